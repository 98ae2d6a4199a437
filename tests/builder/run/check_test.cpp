// SPDX-License-Identifier: Apache-2.0
#include "builder/problem/plane.hpp"
#include "builder/run/repeated_launch.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::builder;

TEST_CASE("Outputs are exact, within the tolerance, or wrong, by the worst of their planes") {
  const Plane a{2, 1, 1, "", {10, 20}};
  const Plane b{2, 1, 1, "", {10, 22}};
  CHECK(compare_outputs({a, a}, {a, a}, 0).check == Check::exact);
  const Comparison within = compare_outputs({a, a}, {a, b}, 2);
  CHECK(within.check == Check::within);
  CHECK(within.different == 1);
  CHECK(within.worst == 2);
  const Comparison wrong = compare_outputs({a, a, a}, {a, b, b}, 1);
  CHECK(wrong.check == Check::wrong);
  CHECK(wrong.different == 2);
  CHECK(wrong.first_wrong == 1);
}

TEST_CASE("Where nothing is expected nothing is checked, and other planes are wrong") {
  const Plane a{2, 1, 1, "", {10, 20}};
  const Plane wide{1, 2, 1, "", {10, 20}};
  CHECK(compare_outputs({a}, {}, 0).check == Check::unchecked);
  CHECK(compare_outputs({a}, {wide}, 255).check == Check::wrong);
  CHECK(compare_outputs({a}, {a, a}, 255).check == Check::wrong);
}

TEST_CASE("The memory of launches is equal or wrong, and unchecked where none is expected") {
  CHECK(compare_memory({1, 2}, {}).check == Check::unchecked);
  CHECK(compare_memory({1, 2}, {1, 2}).check == Check::exact);
  CHECK(compare_memory({1}, {1, 2}).check == Check::wrong);
  const Comparison wrong = compare_memory({1, 2, 3}, {1, 4, 5});
  CHECK(wrong.check == Check::wrong);
  CHECK(wrong.different == 2);
  CHECK(wrong.first_wrong == 1);
}
