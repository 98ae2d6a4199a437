// SPDX-License-Identifier: Apache-2.0
// Groups recorded launches, and turns what was measured of them into JSON and rows.
#include "builder/tune/tuned_launch.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "builder/inspect/pack_json.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

constexpr const char *kEnds[] = {"better", "as good", "refused", "without times", "used up"};

const char *end_name(LaunchEnd end) { return kEnds[static_cast<std::size_t>(end)]; }

LaunchEnd end_from(const std::string &name) {
  const auto *found = std::find(std::begin(kEnds), std::end(kEnds), name);
  return static_cast<LaunchEnd>(found - std::begin(kEnds));
}

bool has_times(const TunedLaunch &tuned) {
  return tuned.end == LaunchEnd::better || tuned.end == LaunchEnd::as_good;
}

}  // namespace

std::uint64_t work_items(const RecordedLaunch &launch) {
  return std::uint64_t{launch.global[0]} * launch.global[1] * launch.global[2];
}

std::vector<UnsizedLaunches> unsized_launches(const std::vector<RecordedLaunch> &launches) {
  std::map<std::pair<std::string, packs::SizeClass>, std::vector<RecordedLaunch>> groups;
  for (const RecordedLaunch &launch : launches) {
    if (launch.local[0] != 0) continue;
    groups[{launch.kernel, runtime::size_class(launch.global)}].push_back(launch);
  }
  std::vector<UnsizedLaunches> found;
  for (auto &[place, group] : groups) {
    std::stable_sort(group.begin(), group.end(),
                     [](const auto &a, const auto &b) { return work_items(a) > work_items(b); });
    found.push_back({place.first, place.second, std::move(group)});
  }
  return found;
}

json to_json(const TunedLaunch &tuned) {
  json out = to_json(tuned.kernel);
  out["program"] = tuned.program;
  out["variant"] = tuned.variant;
  out["size_class"] = size_class_name(tuned.size_class);
  out["end"] = end_name(tuned.end);
  out["launches"] = tuned.launches;
  out["reason"] = tuned.reason;
  out["timer"] = tuned.timer;
  out["global"] = tuned.global;
  out["compared_on_pattern"] = tuned.compared_on_pattern;
  return out;
}

TunedLaunch tuned_launch_from(const json &in) {
  TunedLaunch tuned;
  tuned.kernel = tuned_kernel_from(in);
  tuned.program = in["program"];
  tuned.variant = in["variant"];
  tuned.size_class = packs::size_class(tuned.kernel.work_items);
  tuned.end = end_from(in["end"]);
  tuned.launches = in["launches"];
  tuned.reason = in["reason"];
  tuned.timer = in["timer"];
  tuned.global = in["global"].get<NDSize>();
  tuned.compared_on_pattern = in["compared_on_pattern"];
  return tuned;
}

std::vector<packs::Tuning> launch_rows(const std::vector<TunedLaunch> &all,
                                       const std::string &driver) {
  std::vector<packs::Tuning> rows;
  for (const TunedLaunch &tuned : all) {
    if (tuned.end != LaunchEnd::better) continue;
    packs::Tuning row = kernel_row(tuned.kernel);
    row.program = tuned.program;
    row.variant = tuned.variant;
    row.size_class = tuned.size_class;
    row.conditions = fmt::format(
        "launches recorded: {}, to {}, on zeros, {} clock, driver {}, {} of {} sizes tried",
        tuned.launches, local_text(tuned.global), tuned.timer == "device" ? "device's" : "host's",
        driver, tuned.kernel.points.size(), tuned.kernel.candidates);
    rows.push_back(std::move(row));
  }
  return rows;
}

bool replaces(const TunedLaunch &tuned, const packs::Tuning &old) {
  const bool tells = has_times(tuned) || tuned.end == LaunchEnd::refused;
  return tells && old.program == tuned.program && old.variant == tuned.variant &&
         old.kernel == tuned.kernel.kernel && old.size_class == tuned.size_class;
}

}  // namespace kiln::builder
