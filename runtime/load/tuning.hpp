// SPDX-License-Identifier: Apache-2.0
// The measurements of a pack that serve a device, whichever device they were made on. Pure;
// allocates nothing; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kiln/packs/records.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::runtime {

// What a row's device and this one have in common, the nearest first.
enum class TuningLevel : std::uint8_t {
  device,    // the binary key: this model with this driver
  model,     // of one profile
  family,    // of one profile
  vendor,    // the profile, unless it is "generic", which names no vendor
  standard,  // a row that belongs to no device
};

// As reports have it: "device", "model", "family", "vendor", "default".
const char *tuning_level_name(TuningLevel level);

// A device in a pack's own numbers, to look for its rows.
class TuningPlace {
 public:
  // `key_hash` is that of the device's key. All must outlive this.
  TuningPlace(const packs::Pack &pack, const Description &device, std::uint64_t key_hash);

  // Calls see(row, level) for each row of a kernel and size class that serves the device.
  template <typename See>
  void for_each(const packs::TuningQuery &query, See see) const {
    for (const char *profile : {profile_, ""}) {
      const packs::Range range = packs::find_tunings(pack_, query, profile);
      for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
        const packs::TuningRef row = packs::tuning_at(pack_, i);
        const TuningLevel level = *profile == '\0' ? TuningLevel::standard : level_of(row);
        if (level != TuningLevel::vendor || vendor_counts_) see(row, level);
      }
    }
  }

 private:
  TuningLevel level_of(packs::TuningRef row) const;

  const packs::Pack &pack_;
  const char *profile_;
  bool vendor_counts_;
  std::uint32_t family_;  // as a text of the pack; no row has what the device does not say
  std::uint32_t model_;
  bool has_model_;
  std::uint64_t key_hash_;
};

// The row for this kernel and size class from the nearest level that has one, or null; `*level`
// is set with a row only. At one level the row with more samples is taken, then that with the
// smaller spread, then the pack's first. `key_hash` is that of the device's key.
//
// A size from any other level than `device` may be too large for this kernel here: clamp it.
packs::TuningRef find_tuning(const packs::Pack &pack, const packs::TuningQuery &query,
                             const Description &device, std::uint64_t key_hash, TuningLevel *level);

// Whether work-groups of that size are whole on every side of a range, so that its launch takes
// them without being changed. False if a number is 0.
inline bool divides(const std::array<std::size_t, 3> &local,
                    const std::array<std::size_t, 3> &global) {
  for (std::size_t i = 0; i < local.size(); ++i) {
    if (local[i] == 0 || global[i] == 0 || global[i] % local[i] != 0) return false;
  }
  return true;
}

}  // namespace kiln::runtime
