// SPDX-License-Identifier: Apache-2.0
#include "builder/base/names.hpp"

#include "tests/support/catch.hpp"

using namespace kiln;

TEST_CASE("a glob matches the whole text without regard to case") {
  CHECK(builder::glob_match("Portable*", "portable computing language"));
  CHECK(builder::glob_match("*H200", "NVIDIA H200"));
  CHECK(builder::glob_match("nv?dia *2*0", "NVIDIA H200"));
  CHECK(builder::glob_match("*", ""));
  CHECK(builder::glob_match("**a**b**", "xxaxxbxx"));
  CHECK_FALSE(builder::glob_match("Portable", "Portable Computing Language"));
  CHECK_FALSE(builder::glob_match("?", ""));
  CHECK_FALSE(builder::glob_match("", "a"));
}
