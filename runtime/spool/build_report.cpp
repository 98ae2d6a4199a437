// SPDX-License-Identifier: Apache-2.0
// Appends a JSON line for each program to the report file.
#include "runtime/spool/build_report.hpp"

#include <cstdio>

#include <fcntl.h>

#include "kiln/packs/descriptor.hpp"
#include "runtime/spool/settings.hpp"
#include "runtime/text/json.hpp"

namespace kiln::layer {
namespace {

const char *outcome_of(const Built &built) {
  if (built.rung.empty()) return "passed";
  return is_compiled(built.rung) ? "compiled" : "served";
}

}  // namespace

bool is_compiled(const std::string &rung) { return rung == "source" || rung == "il"; }

std::string noted(const packs::Status &status) {
  const bool record = settings().record;
  if (!status.ok()) return (record ? "it is not recorded: " : "no pack has it; ") + status.message;
  return record ? "it is recorded" : "no pack has it; the overlay keeps it";
}

void append_report(const Built &built) {
  const std::string &path = settings().report;
  if (path.empty()) return;
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
                        std::chrono::steady_clock::now() - built.start)
                        .count();
  const packs::Descriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!file) return;
  char milliseconds[32];
  // Not %f: the application's locale may change its decimal point.
  std::snprintf(milliseconds, sizeof(milliseconds), "%lld.%03lld",
                static_cast<long long>(took / 1000), static_cast<long long>(took % 1000));
  std::string line = "{\"program\": ";
  runtime::append_json(built.program, &line);
  line += std::string(", \"outcome\": \"") + outcome_of(built) + "\", \"rung\": ";
  runtime::append_json(built.rung, &line);
  line += ", \"reason\": ";
  runtime::append_json(built.reason, &line);
  line += ", \"nearest\": " + (built.nearest.empty() ? "null" : built.nearest);
  line += std::string(", \"milliseconds\": ") + milliseconds + "}\n";
  (void)packs::write_line(file.get(), line.data(), line.size());
}

}  // namespace kiln::layer
