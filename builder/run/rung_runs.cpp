// SPDX-License-Identifier: Apache-2.0
// Leaves out all rungs but one for each run.
#include "builder/run/rung_runs.hpp"

#include <optional>

#include "builder/run/pack_on_device.hpp"
#include "builder/run/workload.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

// Returns the flags with which a load takes this rung or none.
unsigned only(const runtime::Rung &wanted) {
  unsigned flags = wanted.compiles ? 0 : KILN_LOAD_REQUIRE_EXACT;
  (void)runtime::leave_out_above(wanted.name, &flags);
  for (const runtime::Rung &rung : runtime::rungs()) {
    if (&rung > &wanted && rung.off != wanted.off) flags |= rung.off;
  }
  return flags;
}

// Returns the rung's part of a load report, or null.
json rung_of(const json &report, const char *name) {
  for (const json &rung : report.value("rungs", json::array())) {
    if (rung["rung"] == name) return rung;
  }
  return nullptr;
}

// Sets what became of a run of which the report says `reported`.
void judge(const packs::Program &program, const RunRequest &request, const Reference &reference,
           const json &reported, const RunResult *first, RungRun *run) {
  run->outcome = reported.value("outcome", "failed");
  run->status = run->result.status;
  if (!run->status.ok()) {
    const bool says_why = !reported.is_null() && run->outcome != "loaded";
    run->reason = says_why ? reported.value("reason", "") : run->status.message;
    if (run->outcome == "missed" || run->outcome == "skipped") run->status = {};
    return;
  }
  if (!request.launch) return;
  const auto checked = check_run(program, request, run->result, reference, first);
  if (checked.ok()) run->checked = *checked;
  run->status = checked.status();
  if (run->checked.comparison.check == Check::wrong) {
    run->status = {Code::failed, "the result is wrong"};
  }
}

// Returns whether the run's memory differs when it is repeated.
bool varies(RunRequest request, unsigned flags, const RunResult &before) {
  request.flags = flags;
  const RunResult again = run_program(request);
  return again.status.ok() && again.memory != before.memory;
}

}  // namespace

Result<CheckedRun> check_run(const packs::Program &program, const RunRequest &request,
                             const RunResult &result, const Reference &reference,
                             const RunResult *another) {
  const packs::Variant *variant = find_variant(program, result.variant);
  if (variant == nullptr) return pack_changed();
  CheckedRun checked;
  checked.tolerance = variant->tolerance;
  if (!variant->launches) {
    const Parameters parameters = all_parameters(*variant, request.parameters);
    const auto expected =
        reference.expected({*variant, request.size, request.inputs, parameters, &request.device});
    if (!expected.ok()) return expected.status();
    checked.comparison = compare_outputs(result.outputs, *expected, variant->tolerance);
  }
  if (checked.comparison.check == Check::unchecked && another != nullptr) {
    checked.comparison =
        variant->launches ? compare_memory(result.memory, another->memory)
                          : compare_outputs(result.outputs, another->outputs, variant->tolerance);
    checked.is_with_another = true;
  }
  return checked;
}

Status run_each_rung(const packs::Program &program, const RunRequest &request,
                     const Reference &reference, const std::function<void(const RungRun &)> &done) {
  const auto reports = dry_run_loads(request);
  if (!reports.ok()) return reports.status();
  RunRequest alone = request;
  Status launchable;
  for (const json &report : *reports) {  // else another variant's rung would do
    if (report["program"] == program.name && alone.variant.empty()) {
      alone.variant = report["variant"];
    }
  }
  const packs::Variant *variant = find_variant(program, alone.variant);
  if (variant != nullptr && !variant->launches) launchable = check_launchable(*variant);
  alone.launch = launchable.ok();
  alone.content = MemoryContent::pattern;
  std::optional<RunResult> first;
  unsigned flags_of_first = 0;
  bool failed = false;
  for (const runtime::Rung &rung : runtime::rungs()) {
    if (rung.id == KILN_RUNG_OVERLAY) continue;
    alone.flags = request.flags | only(rung);
    RungRun run{rung.name, run_program(alone)};
    const bool died = run.result.report.is_null() && !run.result.status.ok();
    if (died && !first && alone.content == MemoryContent::pattern) {
      alone.content = MemoryContent::zeros;  // a number may have been taken for an index
      run.result = run_program(alone);
    }
    const json reported = rung_of(run.result.report, rung.name);
    if (reported.is_null() && run.result.status.code == Code::no_rung) continue;  // NVIDIA only
    judge(program, alone, reference, reported, first ? &*first : nullptr, &run);
    if (run.status.ok() && run.reason.empty()) run.reason = launchable.message;
    if (run.checked.comparison.check == Check::wrong && variant != nullptr && variant->launches &&
        varies(alone, flags_of_first, *first)) {
      run.checked = {};
      run.status = {};
      run.reason = "its results differ from launch to launch";
    }
    failed = failed || !run.status.ok();
    done(run);
    if (first || !run.result.status.ok() || !run.status.ok()) continue;
    first = std::move(run.result);
    flags_of_first = alone.flags;
  }
  if (!failed && first) return {};
  return {Code::failed, first ? "a rung failed" : "no rung ran"};
}

}  // namespace kiln::builder
