// SPDX-License-Identifier: Apache-2.0
// Adds up the reports of a dry run: a program needs no compilation if its estimated time is zero.
// A binary that is known not to be final is compiled at its first launch.
#include "builder/run/dry_run_text.hpp"

#include <optional>

#include <fmt/format.h>

#include "runtime/load/rungs.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

bool is_binary(const std::string &name) {
  const runtime::Rung *rung = runtime::find_rung(std::string_view(name));
  return rung != nullptr && !rung->compiles;
}

std::string line_of(const json &report, const std::string &rung, std::optional<double> estimate) {
  std::string text = fmt::format("{}/{}: {}", report["program"].get<std::string>(),
                                 report["variant"].get<std::string>(), rung);
  if (rung != "error" && estimate != 0) {
    text += estimate ? fmt::format(", about {:.0f} ms", *estimate) : ", not measured";
  }
  if (is_binary(rung) && report.contains("why_not_final")) {
    text += "; " + report["why_not_final"].get<std::string>();
  }
  for (const json &tried : report["rungs"]) {
    if (estimate == 0 || tried["outcome"] == "skipped" || !tried.contains("reason")) continue;
    text += fmt::format("; {}: {}", tried["rung"].get<std::string>(),
                        tried["reason"].get<std::string>());
  }
  return text;
}

}  // namespace

DryRunText dry_run_text(const std::vector<json> &reports) {
  DryRunText out;
  std::size_t compiled = 0, unknown = 0, unlaunched = 0;
  double milliseconds = 0;
  for (const json &report : reports) {
    const std::string rung = report["rung"];
    const json &time = report["estimated_milliseconds"];
    const auto estimate = time.is_null() ? std::nullopt : std::optional(time.get<double>());
    if (rung == "error") {
      ++out.failed;
    } else if (estimate != 0) {
      ++compiled;
      unknown += !estimate;
      milliseconds += estimate.value_or(0);
    } else {
      unlaunched += report["final"].is_null();
    }
    out.lines.push_back(line_of(report, rung, estimate));
  }
  out.sum = fmt::format("{} of {} programs need no compilation",
                        reports.size() - compiled - out.failed, reports.size());
  if (compiled != 0) out.sum += fmt::format("; {} are compiled", compiled);
  if (compiled != unknown) {
    out.sum += fmt::format(", {} of them in about {:.0f} ms", compiled - unknown, milliseconds);
  }
  if (unlaunched != 0) {
    out.sum += fmt::format("; of {} it is not known whether the first launch compiles", unlaunched);
  }
  return out;
}

}  // namespace kiln::builder
