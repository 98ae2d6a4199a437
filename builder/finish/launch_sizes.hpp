// SPDX-License-Identifier: Apache-2.0
// The work-group sizes that the runtime may choose for a variant. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "builder/launch/recorded_launch.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::builder {

// A work-group size, and whether the range is wide: PoCL compiles other code for ranges of 65,535
// or more work-items in x or y.
struct LaunchSize {
  runtime::NDSize local{1, 1, 1};
  bool wide = false;
  bool operator<(const LaunchSize &other) const {
    return std::pair(local, wide) < std::pair(other.local, other.wide);
  }
  bool operator==(const LaunchSize &) const = default;
};

// Whether every problem that the program lists is one row.
bool works_on_rows(const packs::Program &program);

// The sizes measured for each kernel, by its name.
using TunedSizes = std::vector<std::pair<std::string, runtime::NDSize>>;

// The variant's records that apply to devices of `profile`, sorted, without duplicates.
TunedSizes tuned_sizes(const std::vector<packs::Tuning> &records, const std::string &program,
                       const std::string &variant, const std::string &profile);

// Every work-group size that the runtime may choose for the variant's kernels (`limits` are in
// their order): for the program's listed problem sizes and for rows and planes of the three size
// classes; from tuned sizes, from the variant's own size, and by its own choice. If Kiln cannot
// launch the variant, for rows and planes of any size. Sorted, without duplicates.
std::vector<LaunchSize> launch_sizes(const packs::Program &program, const packs::Variant &variant,
                                     const std::vector<runtime::WorkGroupLimits> &limits,
                                     const TunedSizes &tuned);

// What a finish says of the recorded launches that it saw, ", launches " and digits of their hash;
// empty if the variant has none. A finish that says something else is of other launches.
std::string launches_mark(const packs::Variant &variant);

// The sizes that launches were recorded with, where the driver did not choose. Sorted, without
// duplicates.
std::vector<LaunchSize> recorded_sizes(const std::vector<RecordedLaunch> &launches);

// The launches that left their size to the driver, each once more with every tuned size of its
// kernel that divides its range: what the layer makes of them.
std::vector<RecordedLaunch> tuned_launches(const std::vector<RecordedLaunch> &launches,
                                           const TunedSizes &tuned);

// The value of PoCL's environment variable POCL_BINARY_SPECIALIZE_WG with which a binary contains
// the code for these sizes, "16-4-1-goffs0-smallgrid,...". It must be set before the program's
// binary is first queried.
std::string pocl_sizes(const std::vector<LaunchSize> &sizes);

}  // namespace kiln::builder
