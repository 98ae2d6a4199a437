// SPDX-License-Identifier: Apache-2.0
// Whether a result is that of the reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "builder/problem/plane.hpp"

namespace kiln::builder {

// From the best to the worst that is known; unchecked: there is nothing to check with.
enum class Check : std::uint8_t { unchecked, exact, within, wrong };

const char *check_name(Check check);  // "exact"

// The check of that name, if there is one.
std::optional<Check> check_from_name(std::string_view name);

// How outputs compare with those expected.
struct Comparison {
  Check check = Check::unchecked;
  std::size_t different = 0;    // elements that are not equal, of all planes
  double worst = 0;             // as in Difference
  std::size_t first_wrong = 0;  // where the check is wrong: the first plane that is
};

// Unchecked where nothing is expected; `tolerance` as in difference().
Comparison compare_outputs(const std::vector<Plane> &outputs, const std::vector<Plane> &expected,
                           double tolerance);

}  // namespace kiln::builder
