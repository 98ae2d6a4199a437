// SPDX-License-Identifier: Apache-2.0
// A child for a single call.
#include "builder/process/fork_call.hpp"

#include "builder/process/serving_child.hpp"

namespace kiln::builder {

ChildResult fork_call(const std::function<nlohmann::json()> &work,
                      std::chrono::milliseconds timeout) {
  ServingChild child([&](const nlohmann::json &) { return work(); });
  return child.call({}, {timeout});
}

}  // namespace kiln::builder
