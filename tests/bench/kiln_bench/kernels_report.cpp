// SPDX-License-Identifier: Apache-2.0
// The measurements as JSON and as text.
#include "tests/bench/kiln_bench/kernels_report.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace kiln::builder {
namespace {

using nlohmann::json;

constexpr char kFillName[] = "clEnqueueFillBuffer";

json size_json(const ProblemSize &size) { return {size.width, size.height, size.depth}; }

json or_null(std::optional<double> value) { return value ? json(*value) : json(); }

std::optional<double> copy_share(const DeviceRow &device, const SizeRow &size,
                                 const VariantRow &row) {
  if (device.copy_bandwidth <= 0 || !row.has_figures()) return std::nullopt;
  return size.gigabytes_per_second(row) / device.copy_bandwidth;
}

json published_json(const VariantRow &row) {
  json all = json::array();
  for (const Published &p : row.published) {
    all.push_back({{"ratio", p.ratio},
                   {"size", size_json(p.size)},
                   {"device", p.device},
                   {"against", p.against}});
  }
  return all;
}

json variant_json(const DeviceRow &device, const ProgramRow &program, const SizeRow &size,
                  const VariantRow &row) {
  json out = {
      {"variant", row.variant}, {"available", row.available}, {"published", published_json(row)}};
  if (row.reason) out["reason"] = *row.reason;
  if (!row.available) return out;
  const VariantTime &m = row.measured;
  out["rung"] = row.rung;
  out["check"] = check_name(m.check);
  if (m.check != Check::unchecked) out["check_size"] = size_json(m.checked);
  if (!row.has_figures()) return out;
  out["local"] = m.local;
  out["local_from"] = m.local_from;
  out["timer"] = m.wall ? "wall" : "device";
  out["nanoseconds"] = m.time.median;
  out["least"] = m.time.least;
  out["wall_nanoseconds"] = m.wall_median;
  out["spread"] = m.time.spread;
  out["samples"] = m.time.samples;
  out["gigabytes_per_second"] = size.gigabytes_per_second(row);
  out["copy_share"] = or_null(copy_share(device, size, row));
  out["speedup"] = or_null(size.speedup(row, program.baseline));
  out["best"] = size.best() == &row;
  out["long_launch"] = device.stutters(row);
  return out;
}

json fill_json(const DeviceRow &device, const SizeRow &size) {
  if (!size.fill) return {};
  if (!size.fill->status.ok()) return {{"error", size.fill->status.message}};
  const double rate = static_cast<double>(size.bytes) / size.fill->nanoseconds;
  return {{"timer", size.fill->wall ? "wall" : "device"},
          {"nanoseconds", size.fill->nanoseconds},
          {"pattern_bytes", size.fill->pattern},
          {"gigabytes_per_second", rate},
          {"copy_share", device.copy_bandwidth > 0 ? json(rate / device.copy_bandwidth) : json()}};
}

json program_json(const DeviceRow &device, const ProgramRow &program) {
  json sizes = json::array();
  for (const SizeRow &size : program.sizes) {
    json variants = json::array();
    for (const VariantRow &row : size.variants) {
      variants.push_back(variant_json(device, program, size, row));
    }
    sizes.push_back({{"size", size_json(size.size)},
                     {"bytes", size.bytes},
                     {"chosen", size.chosen.empty() ? json() : json(size.chosen)},
                     {"choice_loss", or_null(size.choice_loss())},
                     {"fill", fill_json(device, size)},
                     {"variants", variants}});
  }
  return {{"program", program.program}, {"baseline", program.baseline}, {"sizes", sizes}};
}

std::string local_text(const VariantRow &row) {
  std::string text;
  for (const NDSize &local : row.measured.local) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}x{}", local[0], local[1]);
    if (local[2] > 1) text += fmt::format("x{}", local[2]);
  }
  return text + " " + row.measured.local_from;
}

std::string check_text(const VariantTime &measured, const ProblemSize &size) {
  if (measured.check == Check::unchecked) return "unchecked";
  if (measured.checked == size) return check_name(measured.check);
  return fmt::format("{} at {}", check_name(measured.check), size_text(measured.checked));
}

std::string published_text(const VariantRow &row, const ProblemSize &size) {
  for (const Published &p : row.published) {
    if (p.size == size) return fmt::format("{:.1f}", p.ratio);
  }
  return "-";
}

std::string ratio_text(std::optional<double> value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

// One line for each variant: figures, or why there are none.
std::string row_text(const DeviceRow &device, const ProgramRow &program, const SizeRow &size,
                     const VariantRow &row, std::size_t width) {
  const std::string name =
      fmt::format("{} {:{}}", size.best() == &row ? '*' : ' ', row.variant, width);
  if (!row.available)
    return fmt::format("{}  not available on this device: {}\n", name, row.reason.value_or(""));
  if (!row.has_figures()) return fmt::format("{}  no figures: {}\n", name, row.reason.value_or(""));
  const VariantTime &m = row.measured;
  return fmt::format("{} {:12.1f} {:6.1f}% {:8.2f} {:>8} {:>8} {:>9}  {}, {}, {}{}{}\n", name,
                     m.time.median / 1e3, 100 * m.time.spread, size.gigabytes_per_second(row),
                     ratio_text(copy_share(device, size, row)),
                     ratio_text(size.speedup(row, program.baseline)),
                     published_text(row, size.size), check_text(m, size.size), row.rung,
                     local_text(row), m.wall == device.wall ? "" : ", by the host's clock",
                     device.stutters(row) ? ", over 30 ms a launch: split the NDRange" : "");
}

// What the driver's own command takes for as many bytes.
std::string fill_text(const DeviceRow &device, const SizeRow &size, std::size_t width) {
  const std::string name = fmt::format("  {:{}}", kFillName, width);
  const FillTime &fill = *size.fill;
  if (!fill.status.ok()) return fmt::format("{}  no figures: {}\n", name, fill.status.message);
  const double rate = static_cast<double>(size.bytes) / fill.nanoseconds;
  std::optional<double> share;
  if (device.copy_bandwidth > 0) share = rate / device.copy_bandwidth;
  return fmt::format("{} {:12.1f} {:>7} {:8.2f} {:>8} {:>8} {:>9}  a constant {}-byte pattern{}\n",
                     name, fill.nanoseconds / 1e3, "-", rate, ratio_text(share), "-", "-",
                     fill.pattern, fill.wall == device.wall ? "" : ", by the host's clock");
}

std::string choice_text(const SizeRow &size) {
  const std::optional<double> loss = size.choice_loss();
  if (!loss) return fmt::format("; the runtime takes {}", size.chosen);
  return fmt::format("; the runtime takes {}, {:.2f} of the best's time (goal {:.2f})", size.chosen,
                     *loss, kMaxChoiceLoss);
}

std::string size_rows_text(const DeviceRow &device, const ProgramRow &program,
                           const SizeRow &size) {
  std::size_t width = 7;
  for (const VariantRow &row : size.variants) width = std::max(width, row.variant.size());
  if (size.fill) width = std::max(width, std::strlen(kFillName));
  std::string text =
      fmt::format("\n{} {}: {} bytes", program.program, size_text(size.size), size.bytes);
  if (!size.chosen.empty()) text += choice_text(size);
  text += fmt::format("\n  {:{}} {:>12} {:>7} {:>8} {:>8} {:>8} {:>9}  check, rung, work-groups\n",
                      "variant", width, "us", "spread", "GB/s", "of copy", "speed-up", "published");
  for (const VariantRow &row : size.variants) {
    text += row_text(device, program, size, row, width);
  }
  if (size.fill) text += fill_text(device, size, width);
  return text;
}

}  // namespace

json to_json(const DeviceRow &row) {
  json out = {{"device", row.device},
              {"index", row.index},
              {"profile", row.profile},
              {"driver_version", row.driver_version}};
  if (!row.status.ok()) {
    out["error"] = row.status.message;
    return out;
  }
  out["timer"] = row.wall ? "wall" : "device";
  out["copy_bandwidth"] = row.copy_bandwidth > 0 ? json(row.copy_bandwidth) : json();
  if (!row.copied.ok()) out["copy_error"] = row.copied.message;
  out["programs"] = json::array();
  for (const ProgramRow &program : row.programs) {
    out["programs"].push_back(program_json(row, program));
  }
  return out;
}

std::string to_text(const DeviceRow &row) {
  if (!row.status.ok())
    return fmt::format("{}\n  no figures: {}\n", row.device, row.status.message);
  std::string text =
      fmt::format("{}\n  times by the {} clock; ", row.device, row.wall ? "host's" : "device's");
  text += row.copied.ok()
              ? fmt::format("copies {:.1f} GB/s, bytes read and written\n", row.copy_bandwidth)
              : fmt::format("no copy bandwidth: {}\n", row.copied.message);
  for (const ProgramRow &program : row.programs) {
    for (const SizeRow &size : program.sizes) text += size_rows_text(row, program, size);
  }
  return text;
}

}  // namespace kiln::builder
