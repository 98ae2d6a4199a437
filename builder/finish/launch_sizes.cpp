// SPDX-License-Identifier: Apache-2.0
// Collects sizes from problems, tunings and recordings, and formats them for PoCL.
#include "builder/finish/launch_sizes.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "builder/run/workload.hpp"
#include "runtime/launch/work_group.hpp"
#include "runtime/load/tuning.hpp"

namespace kiln::builder {
namespace {

using runtime::NDSize;

// PoCL limits the greater of the range's x and y; for z it limits the work-group's size.
constexpr std::size_t kWide = 65'535;
constexpr std::size_t kDeep = 256;

bool is_wide(const NDSize &range, const NDSize &local) {
  return std::max(range[0], range[1]) >= kWide || local[2] >= kDeep;
}

std::vector<ProblemSize> problems_of(const packs::Program &program) {
  std::vector<ProblemSize> problems;
  std::uint32_t depth = 1;
  for (const auto &[width, height, deep] : program.sizes) {
    problems.push_back({width, height, deep});
    depth = std::max(depth, deep);
  }
  for (const std::uint32_t side : {64u, 512u, 2048u}) {
    problems.push_back({side, side, depth == 1 ? 1 : side});
    if (works_on_rows(program)) problems.push_back({side * side, 1, 1});
  }
  return problems;
}

// Returns the ranges of each kernel.
std::vector<std::vector<NDSize>> ranges_of(const packs::Program &program,
                                           const packs::Variant &variant) {
  std::vector<std::vector<NDSize>> ranges(variant.kernels.size());
  for (const ProblemSize &size : problems_of(program)) {
    const auto workload = plan_workload(program, variant, size, {});
    if (!workload.ok()) continue;
    for (std::size_t i = 0; i < workload->stages.size(); ++i) {
      ranges[i].push_back(workload->stages[i].global);
    }
  }
  return ranges;
}

// Returns ranges with which a work-group size may be launched if no range is known: short and long.
std::vector<NDSize> ranges_for(const NDSize &size) {
  if (size[1] > 1 || size[2] > 1) return {{1024, 1024, size[2] > 1 ? 1024u : 1u}};
  return {{1024, 1, 1}, {1u << 20, 1, 1}};
}

}  // namespace

bool knows_launches(const packs::Program &program, const packs::Variant &variant) {
  return variant.launches || plan_workload(program, variant, {64, 64, 1}, {}).ok();
}

bool knows_sizes(const packs::Program &program, const packs::Variant &variant) {
  return variant.local_size[0] != 0 || !variant.local_sizes.empty() ||
         knows_launches(program, variant);
}

bool works_on_rows(const packs::Program &program) {
  const auto &sizes = program.sizes;
  return !sizes.empty() &&
         std::all_of(sizes.begin(), sizes.end(), [](const auto &size) { return size[1] == 1; });
}

TunedSizes tuned_sizes(const std::vector<packs::Tuning> &records, const std::string &program,
                       const std::string &variant, const std::string &profile) {
  TunedSizes sizes;
  for (const packs::Tuning &row : records) {
    if (row.program != program || row.variant != variant || row.kernel.empty()) continue;
    if (row.profile != profile && !row.profile.empty()) continue;
    sizes.push_back({row.kernel, {row.local_size[0], row.local_size[1], row.local_size[2]}});
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<LaunchSize> launch_sizes(const packs::Program &program, const packs::Variant &variant,
                                     const std::vector<runtime::WorkGroupLimits> &limits,
                                     const TunedSizes &tuned) {
  std::set<LaunchSize> sizes;
  const auto ranges = ranges_of(program, variant);
  const auto rules = runtime::launch_rules(variant.requirements);
  for (std::size_t i = 0; i < variant.kernels.size(); ++i) {
    for (const auto &[x, y, z] : variant.local_sizes) {
      const NDSize stated{x, y, z};
      if (runtime::volume(stated) > limits[i].work_group_size) continue;
      for (const NDSize &range : ranges_for(stated)) {
        sizes.insert({stated, is_wide(range, stated)});
      }
    }
    const NDSize &required = limits[i].required;
    const auto &own = variant.local_size;
    std::vector<NDSize> wanted{required[0] != 0 ? required : NDSize{own[0], own[1], own[2]}};
    for (const auto &[kernel, size] : tuned) {
      if (kernel == variant.kernels[i].name) wanted.push_back(size);
    }
    for (const NDSize &size : wanted) {
      if (ranges[i].empty() && size[0] == 0) continue;
      for (const NDSize &range : ranges[i].empty() ? ranges_for(size) : ranges[i]) {
        NDSize local = runtime::fit_local_size(range, size, limits[i]);
        if (!runtime::apply_multiple(rules, limits[i], false, &local).ok()) continue;
        const NDSize padded = runtime::pad_global_size(range, local);
        sizes.insert({local, is_wide(padded, local)});
      }
    }
  }
  return {sizes.begin(), sizes.end()};
}

std::string launches_mark(const packs::Variant &variant) {
  constexpr std::size_t kDigits = 16;
  if (!variant.launches) return "";
  return ", launches " + packs::hex(variant.launches->name()).substr(0, kDigits);
}

std::vector<LaunchSize> recorded_sizes(const std::vector<RecordedLaunch> &launches) {
  std::set<LaunchSize> sizes;
  for (const RecordedLaunch &launch : launches) {
    if (launch.local[0] != 0) sizes.insert({launch.local, is_wide(launch.global, launch.local)});
  }
  return {sizes.begin(), sizes.end()};
}

std::vector<RecordedLaunch> tuned_launches(const std::vector<RecordedLaunch> &launches,
                                           const TunedSizes &tuned) {
  std::vector<RecordedLaunch> found;
  for (const RecordedLaunch &launch : launches) {
    if (launch.local[0] != 0) continue;
    for (const auto &[kernel, size] : tuned) {
      if (kernel != launch.kernel || !runtime::divides(size, launch.global)) continue;
      found.push_back(launch);
      found.back().local = size;
    }
  }
  return found;
}

std::string pocl_sizes(const std::vector<LaunchSize> &sizes) {
  std::string text;
  for (const auto &[local, wide] : sizes) {
    text += fmt::format("{}{}-{}-{}-goffs0{}", text.empty() ? "" : ",", local[0], local[1],
                        local[2], wide ? "" : "-smallgrid");
  }
  return text;
}

}  // namespace kiln::builder
