// SPDX-License-Identifier: Apache-2.0
// Finds earlier blobs that share much with another: good bases for it.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kiln/packs/bytes.hpp"

namespace kiln::packs {

// Of each blob only a few sampled hashes are kept, some 500 bytes whatever its size. The answers
// depend on the blobs and their order alone. Not thread-safe.
class SimilarBlobs {
 public:
  // Numbers blobs from 0 in the order of the calls.
  void add(View raw);
  // Numbers of at most three blobs, the most similar first; of equal ones the latest.
  std::vector<std::uint32_t> find(View raw) const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  using Latest = std::array<std::uint32_t, 4>;  // blobs that have a hash, the latest first

  std::unordered_map<std::uint64_t, Latest> blobs_;
  std::uint32_t count_ = 0;
};

}  // namespace kiln::packs
