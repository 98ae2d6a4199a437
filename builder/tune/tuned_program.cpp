// SPDX-License-Identifier: Apache-2.0
// Turns measurements into JSON and back, and into rows, and decides which older rows of a pack are
// replaced.
#include "builder/tune/tuned_program.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "builder/inspect/pack_json.hpp"
#include "kiln/packs/bytes.hpp"

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

json to_json(const TunedSize &tuned) {
  json variants = json::array();
  for (const TunedVariant &variant : tuned.variants) variants.push_back(to_json(variant));
  const TunedVariant *best = tuned.best();
  return {{"program", tuned.program},
          {"size", {tuned.size.width, tuned.size.height, tuned.size.depth}},
          {"size_class", size_class_name(packs::size_class(tuned.size.elements()))},
          {"best", best != nullptr ? json(best->variant) : json()},
          {"variants", variants}};
}

// Whether the new row replaces the old one; both are of one device.
bool replaces(const packs::Tuning &row, const packs::Tuning &old) {
  if (std::tie(row.program, row.kernel, row.size_class) !=
      std::tie(old.program, old.kernel, old.size_class)) {
    return false;
  }
  // Times of variants that were measured under other conditions are no longer comparable.
  return row.variant == old.variant || (row.kernel.empty() && row.conditions != old.conditions);
}

std::string conditions_of(const TunedDevice &tuned, const TunedSize &size,
                          const TunedVariant &variant) {
  return fmt::format("{}, {} clock, driver {}", size_text(size.size),
                     variant.timer == "device" ? "device's" : "host's",
                     tuned.device.identity.text(runtime::Field::driver_version));
}

using RowKey = std::tuple<std::string, std::string, std::string, packs::SizeClass>;

// Makes a row with these figures.
packs::Tuning row_of(double nanoseconds, double default_nanoseconds, std::size_t samples,
                     double spread) {
  packs::Tuning row;
  row.nanoseconds = static_cast<std::uint64_t>(whole(nanoseconds));
  row.default_nanoseconds = static_cast<std::uint64_t>(whole(default_nanoseconds));
  row.samples = static_cast<std::uint32_t>(samples);
  row.spread = static_cast<std::uint32_t>(std::lround(std::min(spread, 1e6) * 1000));
  return row;
}

// Makes a row with the figures, the name and the size of the kernel.
packs::Tuning kernel_row(const TunedKernel &kernel) {
  packs::Tuning row =
      row_of(kernel.nanoseconds, kernel.default_nanoseconds, kernel.samples, kernel.spread);
  row.kernel = kernel.kernel;
  for (std::size_t i = 0; i < 3; ++i) {
    row.local_size[i] = static_cast<std::uint32_t>(kernel.local[i]);
  }
  return row;
}

// Returns the rows of the kernels by place, each with its number of work-items.
std::map<RowKey, std::pair<std::uint64_t, packs::Tuning>> kernel_rows(const TunedDevice &tuned,
                                                                      const TunedSize &size,
                                                                      const TunedVariant &variant) {
  std::map<RowKey, std::pair<std::uint64_t, packs::Tuning>> rows;
  for (const TunedKernel &kernel : variant.kernels) {
    if (kernel.required) continue;
    packs::Tuning row = kernel_row(kernel);
    row.program = size.program;
    row.variant = variant.variant;
    row.size_class = packs::size_class(kernel.work_items);
    row.conditions = fmt::format("{}, {} of {} sizes tried", conditions_of(tuned, size, variant),
                                 kernel.points.size(), kernel.candidates);
    rows[{row.program, row.variant, row.kernel, row.size_class}] = {kernel.work_items, row};
  }
  return rows;
}

// Times of variants are comparable only under the same conditions. So of one program and class only
// the rows with the conditions under which the most variants were measured stay; if two are equal,
// the rows of the larger problem. A problem size is left out if the time was not enough for some of
// its variants, because then the fastest variant is not known.
std::vector<packs::Tuning> variant_rows(const TunedDevice &tuned) {
  struct Group {
    std::uint64_t elements = 0;
    std::vector<packs::Tuning> rows;
    auto worth() const { return std::pair(rows.size(), elements); }
  };
  std::map<std::pair<std::string, packs::SizeClass>, std::map<std::string, Group>> groups;
  for (const TunedSize &size : tuned.sizes) {
    if (!size.complete()) continue;
    for (const TunedVariant &variant : size.variants) {
      if (!variant.measured()) continue;
      packs::Tuning row =
          row_of(variant.nanoseconds, variant.default_nanoseconds, variant.samples, variant.spread);
      row.program = size.program;
      row.variant = variant.variant;
      row.size_class = packs::size_class(size.size.elements());
      row.conditions = conditions_of(tuned, size, variant);
      Group &group = groups[{row.program, row.size_class}][row.conditions];
      group.elements = size.size.elements();
      group.rows.push_back(std::move(row));
    }
  }
  std::vector<packs::Tuning> rows;
  for (const auto &[place, by_conditions] : groups) {
    const auto best = std::max_element(
        by_conditions.begin(), by_conditions.end(),
        [](const auto &a, const auto &b) { return a.second.worth() < b.second.worth(); });
    rows.insert(rows.end(), best->second.rows.begin(), best->second.rows.end());
  }
  return rows;
}

TunedKernel tuned_kernel_from(const json &in) {
  TunedKernel kernel;
  kernel.kernel = in["kernel"];
  kernel.work_items = in["work_items"];
  kernel.required = in["required"];
  kernel.local = in["local"].get<NDSize>();
  kernel.nanoseconds = in["nanoseconds"];
  kernel.default_nanoseconds = time_from(in["default_nanoseconds"]);
  kernel.samples = in["samples"];
  kernel.spread = in["spread"];
  kernel.candidates = in["candidates"];
  kernel.finished = in["finished"];
  for (const json &point : in["points"]) {
    kernel.points.push_back({point["local"].get<NDSize>(), point["nanoseconds"]});
  }
  for (const json &point : in["skipped"]) {
    kernel.skipped.push_back({point["local"].get<NDSize>(), point["reason"]});
  }
  return kernel;
}

// Returns a row for each kernel whose best size is better than the driver's.
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

}  // namespace

std::int64_t whole(double nanoseconds) { return std::llround(nanoseconds); }

json time_json(double nanoseconds) { return nanoseconds > 0 ? json(whole(nanoseconds)) : json(); }

double time_from(const json &value) { return value.is_null() ? 0 : value.get<double>(); }

json to_json(const TunedKernel &kernel) {
  json points = json::array();
  for (const TunedPoint &point : kernel.points) {
    points.push_back({{"local", point.local}, {"nanoseconds", whole(point.nanoseconds)}});
  }
  json skipped = json::array();
  for (const SkippedPoint &point : kernel.skipped) {
    skipped.push_back({{"local", point.local}, {"reason", point.reason}});
  }
  return {{"kernel", kernel.kernel},
          {"work_items", kernel.work_items},
          {"size_class", size_class_name(packs::size_class(kernel.work_items))},
          {"required", kernel.required},
          {"local", kernel.local},
          {"nanoseconds", whole(kernel.nanoseconds)},
          {"default_nanoseconds", time_json(kernel.default_nanoseconds)},
          {"samples", kernel.samples},
          {"spread", kernel.spread},
          {"candidates", kernel.candidates},
          {"finished", kernel.finished},
          {"points", points},
          {"skipped", skipped}};
}

std::string local_text(const NDSize &local) {
  if (local[2] != 1) return fmt::format("{}x{}x{}", local[0], local[1], local[2]);
  if (local[1] != 1) return fmt::format("{}x{}", local[0], local[1]);
  return fmt::format("{}", local[0]);
}

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

bool replaces(const TunedLaunch &tuned, const packs::Tuning &old) {
  const bool has_result = has_times(tuned) || tuned.end == LaunchEnd::refused;
  return has_result && old.program == tuned.program && old.variant == tuned.variant &&
         old.kernel == tuned.kernel.kernel && old.size_class == tuned.size_class;
}

TunedVariant used_up(std::string variant) {
  TunedVariant result;
  result.variant = std::move(variant);
  result.end = TuneEnd::used_up;
  result.reason = kUsedUp;
  return result;
}

const TunedVariant *TunedSize::best() const {
  const TunedVariant *best = nullptr;
  for (const TunedVariant &variant : variants) {
    if (!variant.measured()) continue;
    if (best == nullptr || variant.nanoseconds < best->nanoseconds) best = &variant;
  }
  return best;
}

bool TunedSize::complete() const {
  return std::none_of(variants.begin(), variants.end(),
                      [](const TunedVariant &variant) { return variant.end == TuneEnd::used_up; });
}

double TunedDevice::mean_gain(std::size_t *count) const {
  double sum = 0;
  *count = 0;
  for (const TunedSize &size : sizes) {
    for (const TunedVariant &variant : size.variants) {
      if (!variant.measured() || variant.gain() <= 0) continue;
      sum += std::log(variant.gain());
      ++*count;
    }
  }
  return *count == 0 ? 1 : std::exp(sum / static_cast<double>(*count));
}

json to_json(const TunedVariant &variant) {
  const json check = variant.check ? json(check_name(*variant.check)) : json();
  if (!variant.measured()) {
    return {{"variant", variant.variant},
            {"reason", variant.reason},
            {"rejected", variant.rejected()},
            {"used_up", variant.end == TuneEnd::used_up},
            {"check", check}};
  }
  json kernels = json::array();
  for (const TunedKernel &kernel : variant.kernels) kernels.push_back(to_json(kernel));
  return {{"variant", variant.variant},
          {"check", check},
          {"timer", variant.timer},
          {"nanoseconds", whole(variant.nanoseconds)},
          {"default_nanoseconds", time_json(variant.default_nanoseconds)},
          {"gain", variant.gain() > 0 ? json(variant.gain()) : json()},
          {"samples", variant.samples},
          {"spread", variant.spread},
          {"kernels", kernels}};
}

TunedVariant tuned_variant_from(const json &in) {
  TunedVariant variant;
  variant.variant = in["variant"];
  if (!in["check"].is_null()) variant.check = check_from_name(in["check"].get<std::string>());
  if (in.contains("reason")) {
    variant.end = in["rejected"]  ? TuneEnd::rejected
                  : in["used_up"] ? TuneEnd::used_up
                                  : TuneEnd::without_times;
    variant.reason = in["reason"];
    return variant;
  }
  variant.timer = in["timer"];
  variant.nanoseconds = in["nanoseconds"];
  variant.default_nanoseconds = time_from(in["default_nanoseconds"]);
  variant.samples = in["samples"];
  variant.spread = in["spread"];
  for (const json &kernel : in["kernels"]) variant.kernels.push_back(tuned_kernel_from(kernel));
  return variant;
}

json to_json(const TunedDevice &tuned) {
  json answer = {{"device", tuned.device.label()},
                 {"profile", tuned.device.description.profile},
                 {"driver_version", tuned.device.identity.text(runtime::Field::driver_version)}};
  if (!tuned.status.ok()) {
    answer["error"] = tuned.status.message;
    return answer;
  }
  answer["programs"] = json::array();
  for (const TunedSize &size : tuned.sizes) answer["programs"].push_back(to_json(size));
  answer["launches"] = json::array();
  for (const TunedLaunch &launch : tuned.launches) answer["launches"].push_back(to_json(launch));
  std::size_t count = 0;
  const double gain = tuned.mean_gain(&count);
  answer["mean_gain"] = count > 0 ? json(gain) : json();
  return answer;
}

std::vector<packs::Tuning> tuning_rows(const TunedDevice &tuned) {
  std::set<std::pair<std::string, std::string>> rejected;
  std::map<RowKey, std::pair<std::uint64_t, packs::Tuning>> kernels;
  for (const TunedSize &size : tuned.sizes) {
    for (const TunedVariant &variant : size.variants) {
      if (variant.rejected()) rejected.emplace(size.program, variant.variant);
      if (!variant.measured()) continue;
      for (auto &[place, row] : kernel_rows(tuned, size, variant)) {
        auto &kept = kernels[place];
        if (row.first >= kept.first) kept = row;
      }
    }
  }
  std::vector<packs::Tuning> rows = variant_rows(tuned);
  for (auto &[place, row] : kernels) rows.push_back(std::move(row.second));
  std::erase_if(rows, [&](const packs::Tuning &row) {
    return rejected.count({row.program, row.variant}) != 0;
  });
  const std::string driver = tuned.device.identity.text(runtime::Field::driver_version);
  for (packs::Tuning &row : launch_rows(tuned.launches, driver)) rows.push_back(std::move(row));
  for (packs::Tuning &row : rows) {
    row.profile = tuned.device.description.profile;
    row.family = tuned.device.description.family;
    row.model = tuned.device.description.model;
    row.key_hash = tuned.device.description.key.hash();
    const auto hash = tuned.variant_hashes.find({row.program, row.variant});
    if (hash != tuned.variant_hashes.end()) row.variant_hash = hash->second;
  }
  return rows;
}

std::size_t store_tunings(const TunedDevice &tuned, packs::Contents *contents) {
  std::set<std::pair<std::string, std::string>> rejected;
  for (const TunedSize &size : tuned.sizes) {
    for (const TunedVariant &variant : size.variants) {
      if (variant.rejected()) rejected.emplace(size.program, variant.variant);
    }
  }
  const std::vector<packs::Tuning> rows = tuning_rows(tuned);
  const std::uint64_t key_hash = tuned.device.description.key.hash();
  std::erase_if(contents->tunings, [&](const packs::Tuning &old) {
    if (old.key_hash != key_hash) return false;
    return rejected.count({old.program, old.variant}) != 0 ||
           std::any_of(tuned.launches.begin(), tuned.launches.end(),
                       [&](const TunedLaunch &launch) { return replaces(launch, old); }) ||
           std::any_of(rows.begin(), rows.end(),
                       [&](const packs::Tuning &row) { return replaces(row, old); });
  });
  contents->tunings.insert(contents->tunings.end(), rows.begin(), rows.end());
  return rows.size();
}

}  // namespace kiln::builder
