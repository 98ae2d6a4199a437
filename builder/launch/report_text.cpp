// SPDX-License-Identifier: Apache-2.0
// Reads a report's own values, not its JSON, and prints a line for each rung and note.
#include "builder/launch/report_text.hpp"

#include <fmt/format.h>

namespace kiln::builder {
namespace {

std::string final_text(const runtime::Report &report) {
  const std::string &why_not = report.why_not_final;
  switch (report.final) {
    case KILN_FINAL_YES: return "  final: its first launch compiles nothing\n";
    case KILN_FINAL_NO: return fmt::format("  not final: {}\n", why_not);
    case KILN_FINAL_UNKNOWN: break;
  }
  return why_not.empty() ? "" : fmt::format("  not known to be final: {}\n", why_not);
}

std::string value_text(const std::optional<std::string> &value) {
  return value ? "\"" + *value + "\"" : "nothing";
}

std::string nearest_text(const runtime::Report &report) {
  const auto nearest = report.nearest();
  if (!nearest) return {};
  std::string text = fmt::format("  nearest target: {}\n", nearest->target);
  for (const runtime::Difference &d : nearest->differs) {
    text += fmt::format("    {}: the pack has {}, the device has {}\n", d.field, value_text(d.pack),
                        value_text(d.device));
  }
  return text;
}

}  // namespace

std::string report_text(const runtime::Report &report) {
  const runtime::Identity &identity = report.device->identity;
  const std::string device = runtime::device_label(identity.text(runtime::Field::device_name),
                                                   identity.text(runtime::Field::driver_version));
  std::string text = fmt::format("{}/{} on {}: {}, {:.2f} ms\n", report.program, report.variant,
                                 device, runtime::rung_name(report.rung), report.milliseconds);
  for (const runtime::RungResult &rung : report.rungs) {
    text += fmt::format("  {:10} {}{}{}\n", runtime::rung_name(rung.rung),
                        runtime::outcome_name(rung.outcome), rung.reason.empty() ? "" : ": ",
                        rung.reason);
    if (!rung.log.empty()) text += rung.log + "\n";
  }
  text += final_text(report);
  if (report.recompiled == true) text += "  the driver silently recompiled the binary\n";
  for (const std::string &note : report.notes) text += fmt::format("  note: {}\n", note);
  return text + nearest_text(report);
}

}  // namespace kiln::builder
