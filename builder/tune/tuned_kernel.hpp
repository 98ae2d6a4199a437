// SPDX-License-Identifier: Apache-2.0
// What tuning found for one kernel, as a value, as JSON and as a row of a pack. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

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
TunedKernel tuned_kernel_from(const nlohmann::json &json);

// The reason of what was not begun because the budget was over.
inline constexpr char kUsedUp[] = "the budget was used up";

// Times in JSON: whole nanoseconds; an absent one, 0, is null.
std::int64_t whole(double nanoseconds);
nlohmann::json time_json(double nanoseconds);
double time_from(const nlohmann::json &value);

// The figures of a row.
packs::Tuning row_of(double nanoseconds, double default_nanoseconds, std::size_t samples,
                     double spread);
// With the kernel and its size.
packs::Tuning kernel_row(const TunedKernel &kernel);

// "16x4", "64", "8x8x4": without the ones at the end.
std::string local_text(const NDSize &local);

}  // namespace kiln::builder
