// SPDX-License-Identifier: Apache-2.0
// What a program computed when it was launched once for a proof. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/launch/check.hpp"
#include "builder/problem/plane.hpp"

namespace kiln::builder {

struct Results {
  std::vector<Plane> outputs{};  // of the problem that the proof poses
  std::vector<std::uint64_t>
      memory{};        // after each recorded launch: a hash of all that it was given
  std::string none{};  // a sentence: why there is neither, or what is tells nothing

  bool empty() const { return outputs.empty() && memory.empty(); }
};

nlohmann::json to_json(const Results &results);
Results results_from(const nlohmann::json &in);

// Outputs within the tolerance, memory only if it is equal. Unchecked where nothing is expected.
Comparison compare_results(const Results &got, const Results &expected, double tolerance);

// The first 16 digits of the results' BLAKE2b-256, by which messages name them.
std::string name_of(const Results &results);

}  // namespace kiln::builder
