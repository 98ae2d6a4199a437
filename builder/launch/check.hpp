// SPDX-License-Identifier: Apache-2.0
// Whether a result equals the C++ reference's.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "builder/problem/plane.hpp"

namespace kiln::builder {

// From the best to the worst that is known; unchecked: there is no reference to check with.
enum class Check : std::uint8_t { unchecked, exact, within, wrong };

const char *check_name(Check check);  // "exact"

// The check of that name, if there is one.
std::optional<Check> check_from_name(std::string_view name);

// How outputs compare with those expected, of which there may be none; `tolerance` as in
// difference().
Check check_outputs(const std::vector<Plane> &outputs, const std::vector<Plane> &expected,
                    double tolerance);

}  // namespace kiln::builder
