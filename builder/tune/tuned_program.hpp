// SPDX-License-Identifier: Apache-2.0
// Results of tuning a kernel, an application's recorded launches and a program, as values, as JSON
// and as rows of a pack. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/machine/device_info.hpp"
#include "builder/problem/plane.hpp"
#include "builder/problem/program_shape.hpp"
#include "builder/run/recorded_launch.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::builder {

using runtime::NDSize;

// Times are medians in nanoseconds. The times with a size that the driver chose are 0 if the driver
// refuses a launch without a size.
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
  bool required = false;  // the kernel has a required size, so there is no choice
  NDSize local{1, 1, 1};  // the best of those that were measured
  double nanoseconds = 0;
  double default_nanoseconds = 0;
  std::size_t samples = 0;
  double spread = 0;  // as a share of the median
  std::size_t candidates = 0;
  bool finished = true;  // false: the search was cut short
  std::vector<TunedPoint> points;
  std::vector<SkippedPoint> skipped;
};

nlohmann::json to_json(const TunedKernel &kernel);

// The reason for work that was not begun because the budget was used up.
inline constexpr char kUsedUp[] = "the budget was used up";

// Convert times for JSON: whole nanoseconds; an absent time, 0, is null.
std::int64_t whole(double nanoseconds);
nlohmann::json time_json(double nanoseconds);
double time_from(const nlohmann::json &value);

// Returns a size as "16x4", "64" or "8x8x4"; trailing ones are left out.
std::string local_text(const NDSize &local);

// Launches of one kernel and size class, which all get one size; sorted by work-items, the most
// first.
struct UnsizedLaunches {
  std::string kernel;
  packs::SizeClass size_class = packs::SizeClass::small;
  std::vector<RecordedLaunch> launches;  // at least one
};

// Selects the launches that left the work-group size to the driver, and groups them by kernel and
// size class.
std::vector<UnsizedLaunches> unsized_launches(const std::vector<RecordedLaunch> &launches);

std::uint64_t work_items(const RecordedLaunch &launch);

// The outcome of tuning a kernel of an application.
enum class LaunchEnd : std::uint8_t {
  better,         // faster than the driver's choice, in each of its launches
  as_good,        // the driver's choice is as good
  refused,        // results differ between sizes, or the kernel ends the process
  without_times,  // cannot be measured here
  used_up,        // no budget was left
};

// A kernel's recorded launches of one size class that left the work-group size to the driver.
struct TunedLaunch {
  std::string program;
  std::string variant;
  packs::SizeClass size_class = packs::SizeClass::small;
  std::size_t launches = 0;
  NDSize global{1, 1, 1};  // of the largest launch, which was timed
  LaunchEnd end = LaunchEnd::without_times;
  std::string reason;                // empty if the end is `better`
  std::string timer;                 // as in TunedVariant
  bool compared_on_pattern = false;  // false: only on memory of zeros
  TunedKernel kernel;
};

nlohmann::json to_json(const TunedLaunch &tuned);
TunedLaunch tuned_launch_from(const nlohmann::json &json);

// Whether an older row of the device is void, because its kernel was measured again for that class
// or must not be given a size.
bool replaces(const TunedLaunch &tuned, const packs::Tuning &old);

// The outcome of tuning a variant.
enum class TuneEnd : std::uint8_t {
  measured,
  without_times,  // cannot be measured here
  used_up,        // no budget was left
  rejected,       // its result is wrong, or the driver died: its older rows are void
};

struct TunedVariant {
  std::string variant;
  TuneEnd end = TuneEnd::measured;
  std::string reason;          // why there are no times; empty if it was measured
  std::optional<Check> check;  // none: tuning did not get that far
  std::string timer;           // the clock: "device" or "wall"
  double nanoseconds = 0;      // all kernels with their best sizes
  double default_nanoseconds = 0;
  std::size_t samples = 0;
  double spread = 0;
  std::vector<TunedKernel> kernels;

  bool measured() const { return end == TuneEnd::measured; }
  bool rejected() const { return end == TuneEnd::rejected; }
  double gain() const { return nanoseconds > 0 ? default_nanoseconds / nanoseconds : 0; }
};

// Returns the result of a variant for which no budget was left.
TunedVariant used_up(std::string variant);

struct TunedSize {
  std::string program;
  ProblemSize size;
  std::vector<TunedVariant> variants;

  // Returns the fastest variant, or null if none has a time.
  const TunedVariant *best() const;
  // Whether the budget was enough for every variant: otherwise no fastest variant is chosen.
  bool complete() const;
};

struct TunedDevice {
  DeviceInfo device;
  std::vector<TunedSize> sizes;
  std::vector<TunedLaunch> launches{};
  Status status{};  // why there are no results, if so
  // Hashes of the variants that were measured, by the names of program and variant.
  std::map<std::pair<std::string, std::string>, packs::Digest> variant_hashes{};

  // Returns the geometric mean of the gains of all variants with times, and their number. The mean
  // of no variants is 1.
  double mean_gain(std::size_t *count) const;
};

nlohmann::json to_json(const TunedVariant &variant);
// Reads the JSON back.
TunedVariant tuned_variant_from(const nlohmann::json &json);
nlohmann::json to_json(const TunedDevice &device);

// Returns a row for each kernel and size class of launches, and a row for each variant and size
// class of problems. If several launches of a kernel are in one class, the launch with the most
// work-items counts. The runtime compares times of whole variants, so the rows of one program and
// class all have the same size and clock: the size and clock with which the most variants were
// measured, or the larger size if two are equal. A rejected variant has no rows. A kernel of an
// application has a row if its size is better than the driver's choice.
std::vector<packs::Tuning> tuning_rows(const TunedDevice &device);

// Puts the tuning_rows() into a pack, and returns their number. Removes older rows of this device:
// rows for the same places, whatever their evidence, because tuning again means that they are
// doubted; all rows of rejected variants; and times of whole variants that were measured under
// other conditions than the new times of the same program and class. Keeps the rows of other
// devices.
std::size_t store_tunings(const TunedDevice &device, packs::Contents *contents);

}  // namespace kiln::builder
