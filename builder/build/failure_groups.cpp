// SPDX-License-Identifier: Apache-2.0
// Looks each log up among those before it.
#include "builder/build/failure_groups.hpp"

#include <map>
#include <string_view>

namespace kiln::builder {

std::vector<FailureGroup> group_failures(const std::vector<JobFailure> &failures) {
  std::vector<FailureGroup> groups;
  std::map<std::string_view, std::size_t> places;
  for (const JobFailure &failure : failures) {
    const auto [place, is_new] = places.emplace(failure.text, groups.size());
    if (is_new) groups.push_back({failure.text, {}});
    groups[place->second].jobs.push_back(failure.job);
  }
  return groups;
}

}  // namespace kiln::builder
