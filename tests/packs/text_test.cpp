// SPDX-License-Identifier: Apache-2.0
// Hexadecimal digits and lower-case letters.
#include "kiln/packs/text.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::packs;

TEST_CASE("bytes become two lower-case hexadecimal digits each", "[text]") {
  const unsigned char bytes[] = {0x00, 0x0f, 0xa5, 0xff};
  CHECK(hex(bytes, sizeof(bytes)) == "000fa5ff");
  CHECK(hex(bytes, 0).empty());
}

TEST_CASE("a number becomes 16 hexadecimal digits", "[text]") {
  CHECK(hex64(0) == "0000000000000000");
  CHECK(hex64(0x8086) == "0000000000008086");
  CHECK(hex64(0xfedcba9876543210) == "fedcba9876543210");
}

TEST_CASE("only ASCII letters have a lower case", "[text]") {
  CHECK(lower('A') == 'a');
  CHECK(lower('Z') == 'z');
  CHECK(lower('a') == 'a');
  CHECK(lower('@') == '@');
  CHECK(lower('[') == '[');
  CHECK(lower('\xc4') == '\xc4');
}
