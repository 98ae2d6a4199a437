// SPDX-License-Identifier: Apache-2.0
// Hash tables, since the plan of a fleet has a job for each of ten thousand binaries.
#include "builder/jobs/earlier.hpp"

#include <algorithm>
#include <tuple>

namespace kiln::builder {
namespace {

// Keeps the earlier entries whose variants still exist and got no new binary.
void keep_entries(const std::vector<packs::Binary> &earlier, const DigestSet &variants,
                  std::vector<packs::Binary> *entries) {
  DigestSet known;
  for (const packs::Binary &entry : *entries) known.insert(entry.variant);
  for (const packs::Binary &one : earlier) {
    if (variants.count(one.variant) != 0 && known.count(one.variant) == 0) entries->push_back(one);
  }
}

DigestSet variants_of(const packs::Contents &contents) {
  DigestSet hashes;
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) hashes.insert(variant.hash);
  }
  return hashes;
}

template <typename Part, typename Key>
void sort_by(std::vector<Part> *parts, Key key) {
  std::sort(parts->begin(), parts->end(),
            [&](const Part &a, const Part &b) { return key(a) < key(b); });
}

void sort_parts(packs::Contents *contents) {
  const auto name = [](const auto &part) -> const std::string & { return part.name; };
  const auto variant = [](const packs::Binary &binary) { return binary.variant; };
  sort_by(&contents->programs, name);
  for (packs::Program &program : contents->programs) sort_by(&program.variants, name);
  sort_by(&contents->targets, [](const packs::Target &t) -> const std::string & { return t.key; });
  for (packs::Target &target : contents->targets) {
    sort_by(&target.binaries, variant);
    sort_by(&target.intermediates, variant);
  }
  sort_by(&contents->tunings, [](const packs::Tuning &t) {
    return std::tie(t.program, t.variant, t.kernel, t.size_class, t.profile, t.family, t.model,
                    t.key_hash);
  });
}

}  // namespace

bool has_any(const packs::Target &target) {
  return !target.binaries.empty() || !target.intermediates.empty();
}

void keep_earlier(const packs::Contents &earlier, packs::Contents *contents) {
  const DigestSet variants = variants_of(*contents);
  for (const packs::Target &target : earlier.targets) {
    const auto now = std::find_if(contents->targets.begin(), contents->targets.end(),
                                  [&](const packs::Target &t) { return t.key == target.key; });
    if (now != contents->targets.end()) {
      keep_entries(target.binaries, variants, &now->binaries);
      keep_entries(target.intermediates, variants, &now->intermediates);
      continue;
    }
    packs::Target kept = target;
    const auto gone = [&](const packs::Binary &b) { return variants.count(b.variant) == 0; };
    std::erase_if(kept.binaries, gone);
    std::erase_if(kept.intermediates, gone);
    if (has_any(kept)) contents->targets.push_back(std::move(kept));
  }
}

void drop_refused(const Refused &refused, packs::Contents *contents) {
  if (refused.empty()) return;
  for (packs::Target &target : contents->targets) {
    const auto is_refused = [&](const packs::Binary &binary) {
      return binary.finish.proof.empty() && refused.count({target.key, binary.variant}) != 0;
    };
    std::erase_if(target.binaries, is_refused);
    std::erase_if(target.intermediates, is_refused);
  }
  std::erase_if(contents->targets, [](const packs::Target &target) { return !has_any(target); });
}

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

const packs::Binary *EarlierBinaries::find(std::string_view key, const packs::Digest &variant,
                                           ByVariant OfTarget::*kind) const {
  const auto target = targets_.find(key);
  if (target == targets_.end()) return nullptr;
  const ByVariant &entries = target->second.*kind;
  const auto found = entries.find(variant);
  return found == entries.end() ? nullptr : found->second;
}

const packs::Binary *EarlierBinaries::binary(std::string_view key,
                                             const packs::Digest &variant) const {
  return find(key, variant, &OfTarget::binaries);
}

const packs::Binary *EarlierBinaries::intermediate(std::string_view key,
                                                   const packs::Digest &variant) const {
  return find(key, variant, &OfTarget::intermediates);
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

bool same_contents(packs::Contents *a, packs::Contents *b) {
  sort_parts(a);
  sort_parts(b);
  return *a == *b;
}

}  // namespace kiln::builder
