// SPDX-License-Identifier: Apache-2.0
// Starts a process for each program; the process loads the program as an application would, and
// launches it.
#include "builder/finish/warm.hpp"

#include "builder/base/this_process.hpp"
#include "builder/finish/launch_twice.hpp"
#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/machine/driver_caches.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/run/pack_on_device.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
// Loads and launches the variant that the runtime chooses. Returns {"variant", "rung", "ms",
// "launched"}, and after a failure its status.
json start(const DeviceInfo &device, const packs::Program &program, const WarmOptions &options) {
  PackOnDevice opened;
  kiln::LoaderOptions with;
  if (!options.overlay.empty()) with.use_overlay(options.overlay.c_str());
  Status status = opened.open(device, options.pack_path, with);
  if (!status.ok()) return to_json(status);
  const auto begin = Clock::now();
  kiln::Loaded loaded = opened.loader.load(program.name, {}, KILN_LOAD_FOR_SMALL);
  const double load = milliseconds_since(begin);
  const runtime::Report &report = report_of(loaded);
  json answer{{"variant", report.variant},
              {"rung", runtime::rung_name(report.rung)},
              {"ms", load},
              {"launched", false}};
  if (!loaded.program) {
    answer.update(to_json(status_of(loaded.program.error())));
    return answer;
  }
  const packs::Variant &variant = *find_variant(program, report.variant);
  const auto workload = plan_workload(program, variant, small_problem(program), {});
  if (!workload.ok()) {
    // A repeated launch may end the process, which would fail a step that must not.
    const bool is_recorded = variant.arguments.empty() && variant.launches.has_value();
    answer["only_loaded"] = is_recorded
                                ? "the manifest lists no arguments, and only kiln build repeats "
                                  "recorded launches"
                                : workload.status().message;
    return answer;
  }
  Session session(opened.cl(), opened.loader, opened.queue);
  FirstLaunch launches;
  status = session.load(*loaded.program, variant);
  if (status.ok()) status = session.bind(*workload);
  if (status.ok()) status = launch_twice(program, variant, &session, &launches);
  if (status.ok()) status = status_of(opened.loader.finish());
  await_mesa();
  if (status.ok()) {
    answer["ms"] = load + launches.first;
    answer["launched"] = true;
  }
  answer.update(to_json(status));
  return answer;
}

// Runs one process, and sets `*ms` to its milliseconds.
bool run(const DeviceInfo &device, const packs::Program &program, const WarmOptions &options,
         WarmRow *row, double *ms) {
  const ChildResult child =
      fork_call([&] { return start(device, program, options); }, options.timeout);
  row->status = child.status();
  if (!child.ok()) return false;
  row->variant = child.answer.value("variant", "");
  row->rung = child.answer.value("rung", "");
  row->launched = child.answer.value("launched", false);
  row->only_loaded = child.answer.value("only_loaded", "");
  *ms = child.answer.value("ms", 0.0);
  return row->status.ok() || *ms > 0;
}

}  // namespace

std::vector<WarmRow> warm(
    const packs::Contents &contents, const DeviceInfo &device, const WarmOptions &options,
    const std::function<void(const std::string &, std::size_t, std::size_t)> &progress) {
  std::vector<WarmRow> rows;
  for (const packs::Program &program : contents.programs) {
    if (!options.program.empty() && program.name != options.program) continue;
    if (progress) progress(program.name, rows.size(), contents.programs.size());
    WarmRow row;
    row.program = program.name;
    if (run(device, program, options, &row, &row.before)) {
      run(device, program, options, &row, &row.after);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

json to_json(const WarmRow &row) {
  json out{{"program", row.program},
           {"variant", row.variant},
           {"rung", row.rung},
           {"before_ms", row.before},
           {"after_ms", row.after},
           {"launched", row.launched},
           {"saved_ms", row.before - row.after}};
  if (!row.only_loaded.empty()) out["only_loaded"] = row.only_loaded;
  if (!row.status.ok()) out["error"] = row.status.message;
  return out;
}

}  // namespace kiln::builder
