// The measured work-group size that serves a device best, whichever device it was measured on.
// Pure; allocates nothing; safe from any thread.
#pragma once

#include <cstdint>

#include "identity.hpp"
#include "kiln/packs/records.hpp"

namespace kiln::runtime {

// What a row's device and this one have in common, the nearest first.
enum class TuningLevel : std::uint8_t {
  device,    // the binary key: this model with this driver
  model,     // of one profile
  family,    // of one profile
  vendor,    // the profile, unless it is "generic", which says nothing
  standard,  // a row that belongs to no device
};

// As reports have it: "device", "model", "family", "vendor", "default".
const char *tuning_level_name(TuningLevel level);

// The row for this kernel and size class from the nearest level that has one, or null; `*level`
// is set with a row only. At one level the row with more samples is taken, then that with the
// smaller spread, then the pack's first. `key_hash` is the XXH3-64 of the device's key text.
//
// A size from any other level than `device` may be too large for this kernel here: clamp it.
const packs::fb::Tuning *find_tuning(const packs::fb::Root &root, const packs::TuningQuery &query,
                                     const Description &device, std::uint64_t key_hash,
                                     TuningLevel *level);

}  // namespace kiln::runtime
