// SPDX-License-Identifier: Apache-2.0
// Collects first guesses for a stage, as the runtime makes them at a launch.
#include "builder/tune/seeds.hpp"

#include <algorithm>

#include "runtime/launch/launch_rules.hpp"
#include "runtime/launch/suggestion.hpp"
#include "runtime/load/tuning.hpp"

namespace kiln::builder {

std::vector<NDSize> Seeds::sizes() const {
  std::vector<NDSize> found;
  for (const NDSize &size : {own, suggested, guess}) {
    const bool known = std::find(found.begin(), found.end(), size) != found.end();
    if (size[0] != 0 && !known) found.push_back(size);
  }
  return found;
}

Seeds find_seeds(const OpenedPack &opened, cl_kernel kernel, const packs::Variant &variant,
                 const Stage &stage, const runtime::WorkGroupLimits &limits) {
  Seeds seeds;
  seeds.guess = runtime::fit_local_size(stage.global, {0, 0, 0}, limits);
  if (limits.required[0] != 0) return seeds;
  NDSize own{variant.local_size[0], variant.local_size[1], variant.local_size[2]};
  for (unsigned i = stage.dimensions; i < 3; ++i) own[i] = 1;
  if (own[0] != 0) seeds.own = runtime::fit_local_size(stage.global, own, limits);
  const auto suggest = runtime::suggest_function(*opened.child.device);
  if (suggest == nullptr) return seeds;
  NDSize local{0, 0, 0};
  Status asked = runtime::ask_suggestion(
      suggest, {opened.queue.cl(), kernel, stage.dimensions, stage.global}, limits, &local);
  (asked.ok() ? seeds.suggested : seeds.refused_local) = local;
  seeds.refused = std::move(asked.message);
  return seeds;
}

Status keep_rules(const packs::Variant &variant, const runtime::WorkGroupLimits &limits,
                  std::vector<NDSize> *seeds, std::vector<NDSize> *candidates) {
  const auto rules = runtime::launch_rules(variant.requirements);
  for (NDSize &local : *seeds) {
    Status status = runtime::apply_multiple(rules, limits, false, &local);
    if (!status.ok()) return status;
  }
  std::erase_if(*candidates,
                [&](const NDSize &local) { return !runtime::divides(rules.multiple, local); });
  return {};
}

}  // namespace kiln::builder
