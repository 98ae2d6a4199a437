// SPDX-License-Identifier: Apache-2.0
// What tuning found for a kernel, for an application's recorded launches and for a program, as
// values, as JSON and as rows of a pack. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "builder/launch/recorded_launch.hpp"
#include "builder/problem/plane.hpp"
#include "builder/problem/program_shape.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::builder {

using runtime::NDSize;

// Times are medians in nanoseconds; those with the size left to the driver are 0 if it
// refuses a launch without one.
struct TunedPoint {
  NDSize local{1, 1, 1};
  double nanoseconds = 0;
};

struct SkippedPoint {
  NDSize local{1, 1, 1};
  std::string reason;
};

struct TunedKernel {
  std::string kernel;
  std::uint64_t work_items = 0;
  bool required = false;  // it has a required size: there is nothing to choose
  NDSize local{1, 1, 1};  // the best
  double nanoseconds = 0;
  double default_nanoseconds = 0;
  std::size_t samples = 0;
  double spread = 0;  // a share of the median
  std::size_t candidates = 0;
  bool finished = true;  // the search came to its end
  std::vector<TunedPoint> points;
  std::vector<SkippedPoint> skipped;
};

nlohmann::json to_json(const TunedKernel &kernel);

// The reason of what was not begun because the budget was over.
inline constexpr char kUsedUp[] = "the budget was used up";

// Times in JSON: whole nanoseconds; an absent one, 0, is null.
std::int64_t whole(double nanoseconds);
nlohmann::json time_json(double nanoseconds);
double time_from(const nlohmann::json &value);

// "16x4", "64", "8x8x4": without the ones at the end.
std::string local_text(const NDSize &local);

// Launches of one kernel and size class, which get one size, by work-items from the most.
struct UnsizedLaunches {
  std::string kernel;
  packs::SizeClass size_class = packs::SizeClass::small;
  std::vector<RecordedLaunch> launches;  // at least one
};

// Of those launches that left the work-group size to the driver, by kernel and size class.
std::vector<UnsizedLaunches> unsized_launches(const std::vector<RecordedLaunch> &launches);

std::uint64_t work_items(const RecordedLaunch &launch);

// What came of tuning a kernel of an application.
enum class LaunchEnd : std::uint8_t {
  better,         // than the driver's choice, in each of its launches
  as_good,        // the driver's choice is
  refused,        // it does not compute the same with each size, or it ends the process
  without_times,  // it cannot be measured here
  used_up,        // no budget was left for it
};

// A kernel's recorded launches of one size class that left the work-group size to the driver.
struct TunedLaunch {
  std::string program;
  std::string variant;
  packs::SizeClass size_class = packs::SizeClass::small;
  std::size_t launches = 0;
  NDSize global{1, 1, 1};  // of the largest, which the times are of
  LaunchEnd end = LaunchEnd::without_times;
  std::string reason;                // unless it is better
  std::string timer;                 // as a variant's
  bool compared_on_pattern = false;  // or on memory of zeros alone
  TunedKernel kernel;
};

nlohmann::json to_json(const TunedLaunch &tuned);
TunedLaunch tuned_launch_from(const nlohmann::json &json);

// Whether an older row of the device is void: its kernel was measured again for that class, or is
// not to be given a size.
bool replaces(const TunedLaunch &tuned, const packs::Tuning &old);

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
