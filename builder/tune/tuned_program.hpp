// SPDX-License-Identifier: Apache-2.0
// What tuning found, as values, as JSON and as rows of a pack. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "builder/launch/check.hpp"
#include "builder/problem/problem_size.hpp"
#include "builder/tune/tuned_launch.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// What came of tuning a variant.
enum class TuneEnd : std::uint8_t {
  measured,
  without_times,  // it cannot be measured here
  used_up,        // no budget was left for it
  rejected,       // its result is wrong, or the driver died: what was known of it is void
};

struct TunedVariant {
  std::string variant;
  TuneEnd end = TuneEnd::measured;
  std::string reason;          // why it was not measured; then there are no times
  std::optional<Check> check;  // none: it did not come so far
  std::string timer;           // "device" or "wall": whose clock
  double nanoseconds = 0;      // all kernels with their best sizes
  double default_nanoseconds = 0;
  std::size_t samples = 0;
  double spread = 0;
  std::vector<TunedKernel> kernels;

  bool measured() const { return end == TuneEnd::measured; }
  bool rejected() const { return end == TuneEnd::rejected; }
  double gain() const { return nanoseconds > 0 ? default_nanoseconds / nanoseconds : 0; }
};

// A variant for which no budget was left.
TunedVariant used_up(std::string variant);

struct TunedSize {
  std::string program;
  ProblemSize size;
  std::vector<TunedVariant> variants;

  // The fastest, or null where none has a time.
  const TunedVariant *best() const;
  // Whether the budget was enough for every variant: only then is the fastest chosen.
  bool complete() const;
};

struct TunedDevice {
  DeviceInfo device;
  std::vector<TunedSize> sizes;
  std::vector<TunedLaunch> launches{};
  Status status{};  // why there is nothing, if there is

  // Geometric mean over all variants with times, and their number. The mean of none is 1.
  double mean_gain(std::size_t *count) const;
};

nlohmann::json to_json(const TunedVariant &variant);
// Back again; what is used up comes back as one without times.
TunedVariant tuned_variant_from(const nlohmann::json &json);
nlohmann::json to_json(const TunedDevice &device);

// A row for each kernel and class of launches, of several that of the most work-items; and one
// for each variant and class of problems. Times of whole variants are compared by the runtime, so
// those of one program and class are all of one size and clock: what the most variants were
// measured with, then the larger. None of a variant that was rejected. Of an application's kernels
// those that are better than the driver's choice.
std::vector<packs::Tuning> tuning_rows(const TunedDevice &device);

// Puts those rows into a pack, and gives their number. This device's older rows of the same places
// go, whatever their evidence: to tune again is to say that they are doubted. So do all its rows
// of rejected variants, and times of whole variants that were measured under other conditions
// than the new ones of the program and class. Other devices' rows stay.
std::size_t store_tunings(const TunedDevice &device, packs::Contents *contents);

}  // namespace kiln::builder
