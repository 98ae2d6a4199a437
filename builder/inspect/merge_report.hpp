// SPDX-License-Identifier: Apache-2.0
// Reports the choices of a merge, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct MergeChoiceOf {
  std::string pack;  // the input that was merged into the earlier ones
  packs::MergeChoice choice;
};
using MergeReport = std::vector<MergeChoiceOf>;

// Returns a line for each choice, with the labels of `merged`; empty if there were no choices.
std::string merge_report_text(const packs::Contents &merged, const MergeReport &report);
// Returns an array of objects.
nlohmann::json merge_report_json(const packs::Contents &merged, const MergeReport &report);

}  // namespace kiln::builder
