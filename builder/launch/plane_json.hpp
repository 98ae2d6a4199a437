// SPDX-License-Identifier: Apache-2.0
// How planes travel from a child process to its parent. Pure.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "builder/problem/plane.hpp"

namespace kiln::builder {

nlohmann::json to_json(const std::vector<Plane> &planes);
std::vector<Plane> planes_from(const nlohmann::json &json);

}  // namespace kiln::builder
