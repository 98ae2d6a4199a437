// SPDX-License-Identifier: Apache-2.0
// Samples the hashes of all runs of 16 bytes, the same ones wherever they stand.
#include "packs/write/similar.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace kiln::packs {
namespace {

constexpr std::size_t kRun = 16;
constexpr std::size_t kSamples = 24;
constexpr std::size_t kAnswers = 3;
constexpr unsigned kLeastShared = 2;

std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15;
  value ^= value >> 32;
  return value * 0xd6e8feb86659fd93;
}

// The smallest hashes of the blob's runs, rising, each once.
std::vector<std::uint64_t> samples_of(View raw) {
  std::vector<std::uint64_t> smallest;
  std::uint64_t bound = ~std::uint64_t{0} >> 6;
  const auto trim = [&] {
    std::sort(smallest.begin(), smallest.end());
    smallest.erase(std::unique(smallest.begin(), smallest.end()), smallest.end());
    if (smallest.size() > kSamples) smallest.resize(kSamples);
    if (smallest.size() == kSamples) bound = smallest.back();
  };
  for (std::size_t i = 0; i + kRun <= raw.size; ++i) {
    std::uint64_t words[2];
    std::memcpy(words, raw.data + i, sizeof(words));
    const std::uint64_t hash = mixed(words[0] ^ mixed(words[1]));
    if (words[0] == words[1] || hash >= bound) continue;  // zeros and the like tell nothing
    smallest.push_back(hash);
    if (smallest.size() == 16 * kSamples) trim();
  }
  trim();
  return smallest;
}

}  // namespace

void SimilarBlobs::add(View raw) {
  for (const std::uint64_t sample : samples_of(raw)) {
    Latest &latest = blobs_.emplace(sample, Latest{kNone, kNone, kNone, kNone}).first->second;
    std::copy_backward(latest.begin(), latest.end() - 1, latest.end());
    latest[0] = count_;
  }
  ++count_;
}

std::vector<std::uint32_t> SimilarBlobs::find(View raw) const {
  std::map<std::uint32_t, unsigned> shared;
  for (const std::uint64_t sample : samples_of(raw)) {
    const auto found = blobs_.find(sample);
    if (found == blobs_.end()) continue;
    for (const std::uint32_t blob : found->second) {
      if (blob != kNone) ++shared[blob];
    }
  }
  std::vector<std::pair<unsigned, std::uint32_t>> best;
  for (const auto &[blob, count] : shared) {
    if (count >= kLeastShared) best.emplace_back(count, blob);
  }
  std::sort(best.rbegin(), best.rend());
  if (best.size() > kAnswers) best.resize(kAnswers);
  std::vector<std::uint32_t> answers;
  for (const auto &[count, blob] : best) answers.push_back(blob);
  return answers;
}

}  // namespace kiln::packs
