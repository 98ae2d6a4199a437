// SPDX-License-Identifier: Apache-2.0
// Turns the measurements of a kernel into JSON, back, and into a row.
#include "builder/tune/tuned_kernel.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "builder/inspect/pack_json.hpp"

namespace kiln::builder {

using nlohmann::json;

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

packs::Tuning row_of(double nanoseconds, double default_nanoseconds, std::size_t samples,
                     double spread) {
  packs::Tuning row;
  row.nanoseconds = static_cast<std::uint64_t>(whole(nanoseconds));
  row.default_nanoseconds = static_cast<std::uint64_t>(whole(default_nanoseconds));
  row.samples = static_cast<std::uint32_t>(samples);
  row.spread = static_cast<std::uint32_t>(std::lround(std::min(spread, 1e6) * 1000));
  return row;
}

packs::Tuning kernel_row(const TunedKernel &kernel) {
  packs::Tuning row =
      row_of(kernel.nanoseconds, kernel.default_nanoseconds, kernel.samples, kernel.spread);
  row.kernel = kernel.kernel;
  for (std::size_t i = 0; i < 3; ++i) {
    row.local_size[i] = static_cast<std::uint32_t>(kernel.local[i]);
  }
  return row;
}

std::string local_text(const NDSize &local) {
  if (local[2] != 1) return fmt::format("{}x{}x{}", local[0], local[1], local[2]);
  if (local[1] != 1) return fmt::format("{}x{}", local[0], local[1]);
  return fmt::format("{}", local[0]);
}

}  // namespace kiln::builder
