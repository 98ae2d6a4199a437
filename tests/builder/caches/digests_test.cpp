// SPDX-License-Identifier: Apache-2.0
#include "builder/caches/digests.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::builder;

TEST_CASE("The digests of caches are those of their standards") {
  CHECK(md5_hex("abc") == "900150983cd24fb0d6963f7d28e17f72");
  CHECK(md5_hex("") == "d41d8cd98f00b204e9800998ecf8427e");
  CHECK(crc64("123456789") == 0x995dc9bbdf1939fa);
  CHECK(crc64("") == 0);
}
