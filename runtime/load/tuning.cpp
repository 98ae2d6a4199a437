// SPDX-License-Identifier: Apache-2.0
// Compares rows by how near the device is on which they were measured.
#include "runtime/load/tuning.hpp"

#include <string_view>

namespace kiln::runtime {
namespace {

using packs::TuningRef;

std::uint32_t find_known(const packs::Pack &pack, const std::string &text) {
  return text.empty() ? ~std::uint32_t{0} : packs::find_text(pack, text);
}

// Whether `a`, which comes after `b` in the pack, has the better evidence.
bool better(TuningRef a, TuningRef b) {
  return a.samples() != b.samples() ? a.samples() > b.samples() : a.spread() < b.spread();
}

}  // namespace

const char *tuning_level_name(TuningLevel level) {
  static const char *const names[] = {"device", "model", "family", "vendor", "default"};
  return names[static_cast<unsigned>(level)];
}

TuningPlace::TuningPlace(const packs::Pack &pack, const Description &device, std::uint64_t key_hash)
    : pack_(pack),
      profile_(device.profile),
      vendor_counts_(std::string_view(device.profile) != "generic"),
      family_(find_known(pack, device.family)),
      model_(find_known(pack, device.model)),
      has_model_(!device.model.empty()),
      key_hash_(key_hash) {}

TuningLevel TuningPlace::level_of(TuningRef row) const {
  // One key may be that of several models, whose binaries are the same, and whose speed is not.
  const bool same_key = row.key_hash() != 0 && row.key_hash() == key_hash_;
  const bool other_model =
      row.model() != model_ && has_model_ && !packs::text_at(pack_, row.model()).empty();
  if (same_key && !other_model) return TuningLevel::device;
  if (row.model() == model_) return TuningLevel::model;
  if (row.family() == family_) return TuningLevel::family;
  return TuningLevel::vendor;
}

TuningRef find_tuning(const packs::Pack &pack, const packs::TuningQuery &query,
                      const Description &device, std::uint64_t key_hash, TuningLevel *level) {
  TuningRef best;
  TuningPlace(pack, device, key_hash).for_each(query, [&](TuningRef row, TuningLevel here) {
    if (best && (here > *level || (here == *level && !better(row, best)))) return;
    best = row;
    *level = here;
  });
  return best;
}

}  // namespace kiln::runtime
