// SPDX-License-Identifier: Apache-2.0
#include "builder/jobs/device_build.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::builder;

TEST_CASE("Failures with one log are one group, in the order in which they came") {
  const auto groups = group_failures({{"a", "one"}, {"b", "two"}, {"c", "one"}, {"d", "three"}});
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].text == "one");
  CHECK(groups[0].jobs == std::vector<std::string>{"a", "c"});
  CHECK(groups[1].text == "two");
  CHECK(groups[1].jobs == std::vector<std::string>{"b"});
  CHECK(groups[2].text == "three");
  CHECK(group_failures({}).empty());
}
