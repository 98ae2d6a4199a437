// SPDX-License-Identifier: Apache-2.0
// Finds variants by the hash of what they are compiled from.
#include "builder/build/twins.hpp"

#include "runtime/identity/requirements.hpp"

namespace kiln::builder {

Twins::Twins(const packs::Contents &base) : base_(base) {
  for (std::size_t p = 0; p < base.programs.size(); ++p) {
    for (const packs::Variant &variant : base.programs[p].variants) {
      places_[variant.hash].push_back({p, &variant});
    }
  }
}

std::vector<Twin> Twins::of(const packs::Program &program, const packs::Variant &variant,
                            const DeviceInfo &device,
                            const std::vector<ResultCheck> &checks) const {
  std::vector<Twin> twins;
  for (const auto &[place, other] : places_.at(variant.hash)) {
    const packs::Program &owner = base_.programs[place];
    const bool alike = &owner == &program && other->arguments == variant.arguments &&
                       other->tolerance == variant.tolerance;
    if (other == &variant || alike || !checks[place].has_reference(owner, *other)) continue;
    if (!runtime::check_requirements(other->requirements, device.capabilities).ok()) continue;
    twins.push_back({&owner, other, &checks[place]});
  }
  return twins;
}

}  // namespace kiln::builder
