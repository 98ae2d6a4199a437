// SPDX-License-Identifier: Apache-2.0
#include "builder/base/build_log.hpp"

#include "tests/support/catch.hpp"

using namespace kiln;

TEST_CASE("a build log is kept without the driver's temporary files") {
  using builder::without_paths;
  CHECK(without_paths("/tmp/a-1b2/k.cl:3:1: warning: unused") == "<path>:3:1: warning: unused");
  CHECK(without_paths("in file (\"/usr/x y/z\")") == "in file (\"<path> y/z\")");
  CHECK(without_paths("a / b // c /* d */ kernels/e.cl") == "a / b // c /* d */ kernels/e.cl");
  CHECK(without_paths("ends with /") == "ends with /");
  CHECK(without_paths("").empty());
}
