// SPDX-License-Identifier: Apache-2.0
// What a merge chose between, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct MergeChoiceOf {
  std::string pack;  // the input that was merged into what came before it
  packs::MergeChoice choice;
};
using MergeReport = std::vector<MergeChoiceOf>;

// A line for each choice, by the labels of `merged`. Empty without any.
std::string merge_report_text(const packs::Contents &merged, const MergeReport &report);
// An array of objects.
nlohmann::json merge_report_json(const packs::Contents &merged, const MergeReport &report);

}  // namespace kiln::builder
