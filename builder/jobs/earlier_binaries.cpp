// SPDX-License-Identifier: Apache-2.0
// Hash tables, since the plan of a fleet has a job for each of ten thousand binaries.
#include "builder/jobs/earlier_binaries.hpp"

#include <algorithm>

#include "builder/statistics/statistics.hpp"

namespace kiln::builder {
namespace {

// The variants with a hash, which share its binaries.
using ByHash = std::unordered_multimap<packs::Digest, const packs::Variant *, HashOfDigest>;

bool is_beyond_limits(const packs::Binary &binary, const ByHash &variants) {
  const auto [begin, end] = variants.equal_range(binary.variant);
  return std::any_of(begin, end, [&](const auto &variant) {
    return !beyond_limits(*variant.second, binary.statistics).empty();
  });
}

// Keeps the earlier entries whose variants still exist and got no new binary.
void keep_entries(const std::vector<packs::Binary> &earlier, const ByHash &variants,
                  const ProofOrigins &proofs, std::vector<packs::Binary> *entries,
                  NotKept *not_kept) {
  DigestSet known;
  for (const packs::Binary &entry : *entries) known.insert(entry.variant);
  for (const packs::Binary &one : earlier) {
    if (variants.count(one.variant) == 0 || known.count(one.variant) != 0) continue;
    if (is_beyond_limits(one, variants)) {
      ++not_kept->beyond;
      continue;
    }
    if (!proofs.is_stale(one)) {
      entries->push_back(one);
      continue;
    }
    ++not_kept->stale;
    if (proofs.needs_proof(one.variant)) continue;
    packs::Finish &finish = entries->emplace_back(one).finish;
    finish.proof.clear();
    finish.proved_by.clear();
    finish.unproven = "the arguments, sizes, tolerance or reference of its proof have changed";
  }
}

ByHash variants_of(const packs::Contents &contents) {
  ByHash variants;
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) variants.emplace(variant.hash, &variant);
  }
  return variants;
}

}  // namespace

bool has_any(const packs::Target &target) {
  return !target.binaries.empty() || !target.intermediates.empty();
}

NotKept keep_earlier(const packs::Contents &earlier, const ProofOrigins &proofs,
                     packs::Contents *contents) {
  const ByHash variants = variants_of(*contents);
  NotKept not_kept;
  for (const packs::Target &target : earlier.targets) {
    auto now = std::find_if(contents->targets.begin(), contents->targets.end(),
                            [&](const packs::Target &t) { return t.key == target.key; });
    packs::Target fresh;
    const bool is_new = now == contents->targets.end();
    if (is_new) {
      fresh = target;
      fresh.binaries.clear();
      fresh.intermediates.clear();
    }
    packs::Target &into = is_new ? fresh : *now;
    keep_entries(target.binaries, variants, proofs, &into.binaries, &not_kept);
    keep_entries(target.intermediates, variants, proofs, &into.intermediates, &not_kept);
    if (is_new && has_any(fresh)) contents->targets.push_back(std::move(fresh));
  }
  return not_kept;
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

}  // namespace kiln::builder
