// SPDX-License-Identifier: Apache-2.0
// The fleet's report as text, as JSON and as a page.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "builder/base/progress_text.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/fleet/report/fleet_report.hpp"
#include "builder/inspect/printable.hpp"
#include "fleet_page.h"
#include "kiln/packs/files.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxLines = 10;  // of each list in the text

// Rounds down: 100.0 means all.
std::string percent(std::uint64_t part, std::uint64_t all) {
  if (all == 0) return "-";
  const double share = 100 * static_cast<double>(part) / static_cast<double>(all);
  return fmt::format("{:.1f}%", std::floor(share * 10) / 10);
}

std::string weight_text(const FleetWeight &weight, const FleetWeight &all) {
  return fmt::format("{:>12} {:>6}{:>14} {:>6}", weight.devices,
                     percent(weight.devices, all.devices), weight.starts,
                     percent(weight.starts, all.starts));
}

std::string shares_text(const FleetReport &report) {
  std::string text =
      fmt::format("{:14}{:>12} {:>6}{:>14}\n", "every program", "devices", "", "starts");
  for (std::size_t load = 0; load < kFleetLoads; ++load) {
    const FleetWeight &weight = report.shares[load];
    if (weight.devices == 0 && load != 0) continue;
    text += fmt::format("{:14}{}\n", fleet_load_name(static_cast<FleetLoad>(load)),
                        weight_text(weight, report.all));
  }
  return text;
}

FleetWeight sum_of(const FleetShares &shares) {
  FleetWeight sum;
  for (const FleetWeight &weight : shares) {
    sum.devices += weight.devices;
    sum.starts += weight.starts;
  }
  return sum;
}

// Returns the groups, those with the most devices that are not exact first.
std::vector<std::pair<std::string, FleetShares>> sorted(
    const std::map<std::string, FleetShares> &groups) {
  std::vector<std::pair<std::string, FleetShares>> all(groups.begin(), groups.end());
  const auto missing = [](const FleetShares &s) { return sum_of(s).devices - s[0].devices; };
  std::stable_sort(all.begin(), all.end(), [&](const auto &a, const auto &b) {
    return missing(a.second) > missing(b.second);
  });
  return all;
}

std::string more_text(std::size_t all) {
  return all <= kMaxLines ? "" : fmt::format("  {} more: --json lists all\n", all - kMaxLines);
}

std::string group_text(const std::string &name, const FleetShares &shares) {
  const FleetWeight all = sum_of(shares);
  return fmt::format("{:>12}{:>14} {:>6}  {}\n", all.devices, all.starts,
                     percent(shares[0].devices, all.devices),
                     name.empty() ? "unknown" : printable_line(name));
}

std::string groups_text(const char *title, const std::map<std::string, FleetShares> &groups) {
  std::string text = fmt::format("\n{:>12}{:>14}  exact  by {}\n", "devices", "starts", title);
  std::size_t lines = 0;
  for (const auto &[name, shares] : sorted(groups)) {
    if (++lines > kMaxLines) break;
    text += group_text(name, shares);
  }
  return text + more_text(groups.size());
}

// Where earlier reports are given: a line for each, and for this one.
std::string time_line_text(const FleetReport &report) {
  if (report.earlier.empty()) return "";
  std::string text = fmt::format("\n{:>12}{:>14}  exact  over time\n", "devices", "starts");
  for (const EarlierReport &earlier : report.earlier) {
    text += group_text(earlier.name, earlier.shares);
  }
  return text + group_text("now", report.shares);
}

std::string gap_text(const FleetGap &gap) {
  std::string device = gap.device;
  if (!gap.products.empty()) device += ", " + gap.products;
  if (gap.models > 1) device += fmt::format("; {} models", gap.models);
  std::string text =
      fmt::format("{:>12}{:>14}  {:12}  {}, key_hash {}\n", gap.gain.devices, gap.gain.starts,
                  fleet_load_name(gap.load), printable_line(device), packs::hex64(gap.key_hash));
  const auto line = [&](const std::string &what, const std::string &where) {
    text += fmt::format("{:>28}{}{}\n", "", printable_line(what),
                        where.empty() ? "" : "   # " + printable_line(where));
  };
  if (gap.load == FleetLoad::unknown) {
    line(gap.command, std::string("on such a device, into the inventory: ") +
                          (gap.is_described ? "its capabilities are" : "its identity is") +
                          " not known");
  } else if (gap.command.empty()) {
    line("no pack has source or IL to build from", "");
  } else {
    line(gap.command, "on a host that has one");
  }
  if (!gap.virtual_command.empty()) {
    line(gap.virtual_command,
         "on any host" + (gap.virtual_needs.empty() ? "" : " with " + gap.virtual_needs));
  }
  return text;
}

std::string unused_text(const char *title, const std::vector<UnusedPart> &parts) {
  if (parts.empty()) return "";
  std::string text = fmt::format("\n{:>12}  {}\n", "bytes", title);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sum += parts[i].bytes;
    if (i >= kMaxLines) continue;
    const UnusedPart &part = parts[i];
    const std::string hash = part.key_hash == 0 ? "" : ", key_hash " + packs::hex64(part.key_hash);
    text += fmt::format("{:>12}  {}{} in {}\n", part.bytes, printable_line(part.name), hash,
                        printable_line(part.pack));
  }
  text += more_text(parts.size());
  return parts.size() == 1 ? text : text + fmt::format("{:>12}  together\n", sum);
}

std::string time_text(const Durations &times, double value) {
  return times.count() == 0 ? "-" : fmt::format("{:.{}f}", value, value < 10 ? 2 : 0);
}

std::string reports_text(const FleetReport &report) {
  if (report.reports.empty()) return "";
  std::string text =
      "\n       loads    compiled  deaths  refusals  first result, ms: median  largest\n";
  for (const auto &[driver, sums] : report.reports) {
    text += fmt::format(
        "{:>12}{:>12}{:>8}{:>10}{:>26}{:>9}  {}\n", sums.loads, sums.compiled, sums.deaths,
        sums.refusals, time_text(sums.first_results, sums.first_results.median()),
        time_text(sums.first_results, sums.first_results.largest()), printable_line(driver));
  }
  return text;
}

json weight_json(const FleetWeight &weight) {
  return {{"devices", weight.devices}, {"starts", weight.starts}};
}

json shares_json(const FleetShares &shares) {
  json out = weight_json(sum_of(shares));
  for (std::size_t load = 0; load < kFleetLoads; ++load) {
    out["loads"][fleet_load_name(static_cast<FleetLoad>(load))] = weight_json(shares[load]);
  }
  return out;
}

json earlier_json(const FleetReport &report) {
  json out = json::array();
  for (const EarlierReport &earlier : report.earlier) {
    out.push_back(shares_json(earlier.shares));
    out.back()["name"] = earlier.name;
  }
  return out;
}

json groups_json(const std::map<std::string, FleetShares> &groups) {
  json out = json::array();
  for (const auto &[name, shares] : sorted(groups)) {
    out.push_back(shares_json(shares));
    out.back()["name"] = name;
  }
  return out;
}

json pairs_json(const FleetReport &report) {
  json out = json::array();
  for (const FleetPair &pair : report.pairs) {
    const FleetDevice &device = pair.device;
    out.push_back({{"key_hash", packs::hex64(device.key_hash)},
                   {"profile", device.profile},
                   {"model", device.model},
                   {"driver", device.driver},
                   {"load", fleet_load_name(pair.load)},
                   {"devices", device.devices},
                   {"starts", device.starts}});
  }
  return out;
}

json gaps_json(const FleetReport &report) {
  json out = json::array();
  for (const FleetGap &gap : report.gaps) {
    json programs = json::object();
    for (const auto &[program, load] : gap.programs) programs[program] = fleet_load_name(load);
    out.push_back({{"key_hash", packs::hex64(gap.key_hash)},
                   {"device", gap.device},
                   {"products", gap.products},
                   {"models", gap.models},
                   {"load", fleet_load_name(gap.load)},
                   {"devices", gap.gain.devices},
                   {"starts", gap.gain.starts},
                   {"programs", programs},
                   {"command", gap.command},
                   {"virtual_command", gap.virtual_command},
                   {"virtual_needs", gap.virtual_needs}});
  }
  return out;
}

json unused_json(const std::vector<UnusedPart> &parts) {
  json out = json::array();
  for (const UnusedPart &part : parts) {
    out.push_back({{"pack", part.pack}, {"name", part.name}, {"bytes", part.bytes}});
    if (part.key_hash != 0) out.back()["key_hash"] = packs::hex64(part.key_hash);
  }
  return out;
}

json reports_json(const FleetReport &report) {
  json out = json::array();
  for (const auto &[driver, sums] : report.reports) {
    const Durations &times = sums.first_results;
    out.push_back({{"driver", driver},
                   {"loads", sums.loads},
                   {"compiled", sums.compiled},
                   {"deaths", sums.deaths},
                   {"refusals", sums.refusals},
                   {"first_results", times.count()},
                   {"first_result_median", times.count() == 0 ? json() : json(times.median())},
                   {"first_result_largest", times.count() == 0 ? json() : json(times.largest())}});
  }
  return out;
}

}  // namespace

Result<EarlierReport> read_earlier_report(const std::string &path) {
  const auto text = read_whole_file(path);
  if (!text) return Status(Code::bad_input, path + ": " + packs::open_fault(errno));
  EarlierReport out{std::filesystem::path(path).stem().string(), {}};
  using Number = const json::number_unsigned_t &;  // throws for any other
  try {
    const json loads = json::parse(*text).at("all").at("loads");
    for (std::size_t load = 0; load < kFleetLoads; ++load) {
      const json &weight = loads.at(fleet_load_name(static_cast<FleetLoad>(load)));
      out.shares[load] = {weight.at("devices").get_ref<Number>(),
                          weight.at("starts").get_ref<Number>()};
    }
  } catch (const json::exception &) {
    return Status(Code::bad_input, path + ": this is no output of 'kiln fleet report --json'");
  }
  return out;
}

std::string gaps_text(const FleetReport &report, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, report.gaps.size()); ++i) {
    text += gap_text(report.gaps[i]);
  }
  return text;
}

std::string fleet_report_text(const FleetReport &report) {
  std::string text = count(report.all.devices, "device") + ", " +
                     (report.pairs.size() == 1
                          ? "1 model with its driver"
                          : fmt::format("{} models with their drivers", report.pairs.size())) +
                     ", " + count(report.programs, "program") + "\n\n";
  text += shares_text(report) + time_line_text(report);
  if (!report.gaps.empty()) {
    text += fmt::format("\n{:>12}{:>14}  {:12}  gaps\n", "devices", "starts", "now");
    text += gaps_text(report, kMaxLines) + more_text(report.gaps.size());
  }
  text += groups_text("profile", report.profiles) + groups_text("model", report.models) +
          groups_text("driver", report.drivers);
  text += unused_text("targets that no device takes", report.unused_targets) +
          unused_text("programs that no report names", report.unused_programs);
  return text + reports_text(report);
}

json fleet_report_json(const FleetReport &report) {
  return {{"schema", 1},
          {"lines", report.lines},
          {"faults", report.faults},
          {"first_faults", report.first_faults},
          {"programs", report.programs},
          {"exact_percent", report.exact_percent()},
          {"all", shares_json(report.shares)},
          {"profiles", groups_json(report.profiles)},
          {"models", groups_json(report.models)},
          {"drivers", groups_json(report.drivers)},
          {"pairs", pairs_json(report)},
          {"gaps", gaps_json(report)},
          {"unused_targets", unused_json(report.unused_targets)},
          {"unused_programs", unused_json(report.unused_programs)},
          {"reports", reports_json(report)},
          {"earlier", earlier_json(report)}};
}

std::string fleet_report_page(const FleetReport &report) {
  // No character of the data can open or close markup.
  std::string data;
  for (const char c :
       fleet_report_json(report).dump(-1, ' ', true, json::error_handler_t::replace)) {
    if (c == '<' || c == '>' || c == '&') {
      data += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      data += c;
    }
  }
  std::string page(reinterpret_cast<const char *>(fleet_page_data), fleet_page_size);
  constexpr std::string_view kPlace = "{{data}}";
  return page.replace(page.find(kPlace), kPlace.size(), data);
}

}  // namespace kiln::builder
