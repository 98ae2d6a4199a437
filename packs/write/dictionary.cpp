// SPDX-License-Identifier: Apache-2.0
// The only file that needs zstd's trainer.
#include "kiln/packs/dictionary.hpp"

#include <zdict.h>

namespace kiln::packs {
namespace {

constexpr std::size_t kDictionarySize = 262'144;
constexpr std::uint64_t kMaxSampled = 16 << 20;  // bytes

}  // namespace

Status train_dictionary(const std::vector<BlobSource> &sources, Bytes *out) {
  std::uint64_t total = 0;
  for (const BlobSource &source : sources) total += source.raw_size();
  const auto share = static_cast<std::size_t>(total / kMaxSampled + 1);
  Bytes samples;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < sources.size(); i += share) {
    Bytes raw;
    if (Status s = sources[i].read(&raw); !s.ok()) return s;
    if (raw.empty() || raw.size() > kMaxSampled) continue;
    samples.insert(samples.end(), raw.begin(), raw.end());
    sizes.push_back(raw.size());
  }
  out->resize(kDictionarySize);
  const std::size_t size = ZDICT_trainFromBuffer(out->data(), out->size(), samples.data(),
                                                 sizes.data(), static_cast<unsigned>(sizes.size()));
  out->resize(ZDICT_isError(size) != 0 ? 0 : size);
  return {};
}

}  // namespace kiln::packs
