// SPDX-License-Identifier: Apache-2.0
// Tables by hash: the plan of a fleet has a job for each of ten thousand binaries.
#include "builder/build/earlier.hpp"

namespace kiln::builder {

EarlierBinaries::EarlierBinaries(const std::vector<packs::Target> &targets) {
  const auto add = [](const std::vector<packs::Binary> &entries, ByVariant *to) {
    to->reserve(to->size() + entries.size());
    for (const packs::Binary &entry : entries) to->emplace(entry.variant, &entry);
  };
  for (const packs::Target &target : targets) {
    OfTarget &own = targets_[target.key];
    if (own.target == nullptr) own.target = &target;
    add(target.binaries, &own.binaries);
    add(target.intermediates, &own.intermediates);
  }
}

const packs::Target *EarlierBinaries::target(std::string_view key) const {
  const auto target = targets_.find(key);
  return target == targets_.end() ? nullptr : target->second.target;
}

const packs::Binary *EarlierBinaries::binary(std::string_view key,
                                             const packs::Digest &variant) const {
  const auto target = targets_.find(key);
  if (target == targets_.end()) return nullptr;
  const auto found = target->second.binaries.find(variant);
  return found == target->second.binaries.end() ? nullptr : found->second;
}

const packs::Binary *EarlierBinaries::intermediate(std::string_view key,
                                                   const packs::Digest &variant) const {
  const auto target = targets_.find(key);
  if (target == targets_.end()) return nullptr;
  const auto found = target->second.intermediates.find(variant);
  return found == target->second.intermediates.end() ? nullptr : found->second;
}

TuningsByVariant::TuningsByVariant(const std::vector<packs::Tuning> &all) {
  for (const packs::Tuning &tuning : all) {
    by_variant_[{tuning.program, tuning.variant}].push_back(tuning);
  }
}

const std::vector<packs::Tuning> &TuningsByVariant::of(const std::string &program,
                                                       const std::string &variant) const {
  if (by_variant_.empty()) return none_;
  const auto found = by_variant_.find({program, variant});
  return found == by_variant_.end() ? none_ : found->second;
}

}  // namespace kiln::builder
