#include "builder/startup/warm.hpp"

#include "builder/finish/launch_twice.hpp"
#include "builder/finish/mesa_harvest.hpp"
#include "builder/launch/workbench.hpp"
#include "builder/process/fork_call.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// The runtime's choice, loaded and launched: {"variant", "rung", "ms", "launched"} and maybe
// "error".
json start(const DeviceInfo &device, const packs::Program &program, const WarmOptions &options) {
  Workbench bench;
  kiln::LoaderOptions with;
  if (!options.overlay.empty()) with.overlay = options.overlay.c_str();
  std::string error = bench.open(device, options.pack_path, with);
  if (!error.empty()) return {{"error", error}};
  const auto begin = Clock::now();
  kiln::Loaded loaded = bench.loader.load(program.name, {}, KILN_LOAD_FOR_SMALL);
  const double load = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  const json report = json::parse(loaded.report.json());
  json answer{
      {"variant", report["variant"]}, {"rung", report["rung"]}, {"ms", load}, {"launched", false}};
  if (!loaded.program) {
    answer["error"] = loaded.program.error().message;
    return answer;
  }
  const packs::Variant &variant = *find_variant(program, report["variant"].get<std::string>());
  auto plan = plan_workload(program, variant, small_problem(program), {});
  if (const auto *why = std::get_if<std::string>(&plan)) {
    answer["error"] = "only loaded: " + *why;
    return answer;
  }
  Session session(bench.cl(), bench.loader, bench.queue);
  FirstLaunch launches;
  error = session.load(*loaded.program, variant);
  if (error.empty()) error = session.bind(std::get<Workload>(plan));
  if (error.empty()) error = launch_twice(program, variant, &session, &launches);
  if (error.empty()) error = text_of(bench.loader.finish());
  await_mesa();
  if (error.empty()) {
    answer["ms"] = load + launches.first;
    answer["launched"] = true;
  } else {
    answer["error"] = error;
  }
  return answer;
}

// One process; its milliseconds go to `*ms`.
bool run(const DeviceInfo &device, const packs::Program &program, const WarmOptions &options,
         WarmRow *row, double *ms) {
  const ChildResult child =
      run_isolated([&] { return start(device, program, options); }, options.timeout);
  if (!child.ok()) {
    row->error = child.reason();
    return false;
  }
  row->error = child.answer.value("error", "");
  row->variant = child.answer.value("variant", "");
  row->rung = child.answer.value("rung", "");
  row->launched = child.answer.value("launched", false);
  *ms = child.answer.value("ms", 0.0);
  return row->error.empty() || *ms > 0;
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
  if (!row.error.empty()) out["error"] = row.error;
  return out;
}

}  // namespace kiln::builder
