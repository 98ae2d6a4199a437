// SPDX-License-Identifier: Apache-2.0
// The work-group sizes that the runtime may choose for a variant. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kiln/packs/contents.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::builder {

// A work-group size with the extent of the ranges that it is for: PoCL's code for a range of
// 65,535 work-items or more in x or y is other code.
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

// Of the records, those of the variant that serve devices of `profile`, sorted, each once.
TunedSizes tuned_sizes(const std::vector<packs::Tuning> &records, const std::string &program,
                       const std::string &variant, const std::string &profile);

// What the runtime chooses for the variant's kernels, whose limits stand in the same order: for
// problems of the three size classes (rows and planes) and those that the program lists, from what
// was tuned, from the variant's own size and by itself; sorted, each once. Where Kiln cannot launch
// the variant: for rows and planes of any size.
std::vector<LaunchSize> launch_sizes(const packs::Program &program, const packs::Variant &variant,
                                     const std::vector<runtime::WorkGroupLimits> &limits,
                                     const TunedSizes &tuned);

// What PoCL's variable POCL_BINARY_SPECIALIZE_WG has to hold when its binary is first asked for,
// so that the code for these sizes is in it: "16-4-1-goffs0-smallgrid,...".
std::string pocl_sizes(const std::vector<LaunchSize> &sizes);

}  // namespace kiln::builder
