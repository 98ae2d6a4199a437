// SPDX-License-Identifier: Apache-2.0
// The work-group sizes with which a variant is known to be launched. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "builder/run/recorded_launch.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::builder {

// A work-group size, and whether the range is wide: PoCL compiles different code for ranges of
// 65,535 or more work-items in x or y, and for work-groups of 256 or more work-items in z.
struct LaunchSize {
  runtime::NDSize local{1, 1, 1};
  bool wide = false;
  bool operator<(const LaunchSize &other) const {
    return std::pair(local, wide) < std::pair(other.local, other.wide);
  }
  bool operator==(const LaunchSize &) const = default;
};

// Returns whether every problem that the program lists is one row.
bool works_on_rows(const packs::Program &program);

// Measured work-group sizes, each with its kernel's name.
using TunedSizes = std::vector<std::pair<std::string, runtime::NDSize>>;

// Returns the variant's tuned sizes that apply to devices of `profile`, sorted, without duplicates.
TunedSizes tuned_sizes(const std::vector<packs::Tuning> &records, const std::string &program,
                       const std::string &variant, const std::string &profile);

// Returns whether a launch of the variant is known: by its arguments in the manifest, or recorded.
bool knows_launches(const packs::Program &program, const packs::Variant &variant);

// Returns whether launch_sizes() returns any size before a kernel is built, whose source may
// require one.
bool knows_sizes(const packs::Program &program, const packs::Variant &variant);

// Returns every work-group size that the runtime may choose for the variant's kernels (`limits` are
// in their order): for the program's listed problem sizes and for rows and planes of the three size
// classes; from tuned sizes, from the variant's own size, and by the runtime's own choice. If no
// launch of the variant is known, guesses none: returns only the sizes that its kernels require, or
// else the variant's own and tuned sizes. Always includes the manifest's `local_sizes` that the
// device can launch. Sorted, without duplicates.
std::vector<LaunchSize> launch_sizes(const packs::Program &program, const packs::Variant &variant,
                                     const std::vector<runtime::WorkGroupLimits> &limits,
                                     const TunedSizes &tuned);

// Returns the mark that a finish gets for recorded launches: ", launches " and digits of their
// hash; empty if the variant has none. A finish with another mark was made for other launches.
std::string launches_mark(const packs::Variant &variant);

// Returns the work-group sizes of recorded launches, except where the driver chose. Sorted, without
// duplicates.
std::vector<LaunchSize> recorded_sizes(const std::vector<RecordedLaunch> &launches);

// Returns copies of the launches that left their size to the driver, one for every tuned size of
// the kernel that divides the range. The layer makes the same launches.
std::vector<RecordedLaunch> tuned_launches(const std::vector<RecordedLaunch> &launches,
                                           const TunedSizes &tuned);

// Returns the value of PoCL's environment variable POCL_BINARY_SPECIALIZE_WG with which a binary
// contains the code for these sizes, "16-4-1-goffs0-smallgrid,...". The variable must be set before
// the program's binary is first queried.
std::string pocl_sizes(const std::vector<LaunchSize> &sizes);

}  // namespace kiln::builder
