// SPDX-License-Identifier: Apache-2.0
// Which variant of a program a device gets, and the measurements of a pack that serve the device,
// whichever device they were made on. Pure; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kiln/packs/pack.hpp"
#include "kiln/packs/records.hpp"
#include "runtime/device/device.hpp"
#include "runtime/identity/identity.hpp"
#include "runtime/opencl/error.hpp"

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

// A variant and why it was taken.
struct Choice {
  packs::VariantRef variant;  // null: none was chosen
  kiln_choice by = KILN_CHOICE_NAME;
  std::string reason;  // a sentence: "first by name"
  // Of a choice by measurement.
  TuningLevel level = TuningLevel::standard;
  packs::SizeClass size_class = packs::SizeClass::large;
  std::uint64_t nanoseconds = 0;
};

// The variant of that name, or with an empty one the best of those whose requirements the device
// meets, for problems of that size class:
//  * the fastest that was measured, and of those within 3% of it the first of Program.preferred.
//  Times of different devices do not compare, so one device's
//    are: of the nearest level at which any was measured, then of the class that was asked for,
//    else the next smaller, else the next larger, the device with the most variants measured,
//    then with the most samples, then the pack's first.
//  * else the first of Program.preferred, else the first by name.
// A variant that requires a proof is chosen where the pack has a proven binary for the device
// alone; by name always. None of `failed`, which no rung could load, is chosen again. `*out` is set
// on success.
Status choose_variant(const packs::Pack &pack, const Device &device, const std::string &program,
                      const std::string &variant, packs::SizeClass wanted,
                      const std::vector<packs::VariantRef> &failed, Choice *out);

const char *size_class_name(packs::SizeClass size_class);

}  // namespace kiln::runtime
