// SPDX-License-Identifier: Apache-2.0
// Chooses the variant of a program that a device gets, and finds the measurements of a pack that
// apply to the device, whichever device they were made on. Pure; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kiln/packs/find_rows.hpp"
#include "kiln/packs/pack.hpp"
#include "runtime/device/device.hpp"
#include "runtime/identity/identity.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::runtime {

// Likeness of a row's device to this device, the nearest first.
enum class TuningLevel : std::uint8_t {
  device,    // the binary key: this model with this driver
  model,     // the model, within one profile
  family,    // the family, within one profile
  vendor,    // the profile, unless it is "generic", which names no vendor
  standard,  // a row that belongs to no device
};

// Returns the level's name in reports: "device", "model", "family", "vendor", "default".
const char *tuning_level_name(TuningLevel level);

// Finds the rows of a pack that apply to a device.
class TuningPlace {
 public:
  // `key_hash` is the hash of the device's key. All arguments must outlive this object.
  TuningPlace(const packs::Pack &pack, const Description &device, std::uint64_t key_hash);

  // Calls see(row, level) for each row of a kernel and size class that applies to the device, and
  // that measured the variant's text as the pack has it.
  template <typename See>
  void for_each(const packs::TuningQuery &query, See see) const {
    for (const char *profile : {profile_, ""}) {
      const packs::Range range = packs::find_tunings(pack_, query, profile);
      for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
        if (!packs::is_of_packed_text(pack_, query, i)) continue;
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
  // The pack's numbers for the family and the model; an absent one matches no row.
  std::uint32_t family_;
  std::uint32_t model_;
  bool has_model_;
  std::uint64_t key_hash_;
};

// Returns the row for this kernel and size class from the nearest level that has one, or null;
// `*level` is set only together with a row. Within a level the row with the most samples is taken,
// then the row with the smallest spread, then the pack's first. `key_hash` is the hash of the
// device's key.
//
// A size from any other level than `device` may be too large for this kernel here: clamp it.
packs::TuningRef find_tuning(const packs::Pack &pack, const packs::TuningQuery &query,
                             const Description &device, std::uint64_t key_hash, TuningLevel *level);

// Returns whether `local` divides `global` on every side, so that a launch takes both unchanged.
// False if a number is 0.
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
  // Set only if the choice is by measurement.
  TuningLevel level = TuningLevel::standard;
  packs::SizeClass size_class = packs::SizeClass::large;
  std::uint64_t nanoseconds = 0;
};

// Chooses the variant named `variant`. If that is empty, chooses the best of the variants whose
// requirements the device meets, for problems of the size class `wanted`:
//  * The fastest measured variant; of variants within 3% of its time, the first in
//    Program.preferred. Times of different devices do not compare, so the times of one device are
//    used. They come from the nearest level with any measurement, and there from the wanted class,
//    else the next smaller, else the next larger one. If several devices were measured there, the
//    device with the most measured variants is taken, then with the most samples, then the pack's
//    first.
//  * Without measurements, the first of Program.preferred, else the first by name.
// A variant that requires a proof is chosen only if the pack has a proven binary for the device; by
// name it is always chosen. Variants in `failed`, which no rung could load, are not chosen again.
// `*out` is set on success.
Status choose_variant(const packs::Pack &pack, const Device &device, const std::string &program,
                      const std::string &variant, packs::SizeClass wanted,
                      const std::vector<packs::VariantRef> &failed, Choice *out);

const char *size_class_name(packs::SizeClass size_class);

}  // namespace kiln::runtime
