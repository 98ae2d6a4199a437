// SPDX-License-Identifier: Apache-2.0
// Earlier builds and measurements, indexed so that nothing is searched linearly. Pure.
#pragma once

#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "builder/jobs/origin.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

using DigestSet = std::unordered_set<packs::Digest, HashOfDigest>;

// Returns whether the target has a binary or an intermediate.
bool has_any(const packs::Target &target);

// Numbers of earlier binaries that were not kept as they were.
struct NotKept {
  std::size_t stale = 0;   // lost their proof
  std::size_t beyond = 0;  // left out: their statistics are beyond the limits
};

// Adds useful binaries of another pack's targets: binaries of variants that `contents` has, but has
// no binary for. Leaves out records, which the other pack may have removed on purpose, and binaries
// beyond the limits of a variant. A proof that is stale is not kept, nor is its binary if its
// variant needs one.
NotKept keep_earlier(const packs::Contents &earlier, const ProofOrigins &proofs,
                     packs::Contents *contents);

// Binaries and intermediates of targets, by the target's key and the variant's hash. The targets
// must outlive this object and stay where they are.
class EarlierBinaries {
 public:
  explicit EarlierBinaries(const std::vector<packs::Target> &targets);

  // Return null if there is none. If several targets have the key, the first counts.
  const packs::Target *target(std::string_view key) const;
  const packs::Binary *binary(std::string_view key, const packs::Digest &variant) const;
  const packs::Binary *intermediate(std::string_view key, const packs::Digest &variant) const;

 private:
  using ByVariant = std::unordered_map<packs::Digest, const packs::Binary *, HashOfDigest>;
  struct OfTarget {
    const packs::Target *target = nullptr;
    ByVariant binaries, intermediates;
  };
  const packs::Binary *find(std::string_view key, const packs::Digest &variant,
                            ByVariant OfTarget::*kind) const;

  std::unordered_map<std::string_view, OfTarget> targets_;
};

}  // namespace kiln::builder
