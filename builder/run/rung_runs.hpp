// SPDX-License-Identifier: Apache-2.0
// Compares the outputs of a run with the expected ones, and runs a program from each rung alone.
#pragma once

#include <functional>
#include <string>

#include "builder/problem/plane.hpp"
#include "builder/run/reference.hpp"
#include "builder/run/run_program.hpp"

namespace kiln::builder {

// How a run's outputs compare with the reference's, or with those of another run.
struct CheckedRun {
  Comparison comparison{};
  double tolerance = 0;          // of the variant that ran
  bool is_with_another = false;  // another run counted, since the reference gives no results
};

// Compares the outputs of a run with the reference's; if the reference has none, with those of
// `another` run of the request's variant, unless it is null. Fails with Code::failed if the
// reference gives no result, or if the pack was replaced.
Result<CheckedRun> check_run(const packs::Program &program, const RunRequest &request,
                             const RunResult &result, const Reference &reference,
                             const RunResult *another = nullptr);

// A run from one rung alone.
struct RungRun {
  const char *rung = "";
  RunResult result{};
  std::string outcome{};  // of the rung in the load report; "failed" if the report has no such rung
  std::string reason{};   // why there is no result; empty if there is one
  CheckedRun checked{};   // if the run gave a result
  Status status{};        // why the rung counts as failed; ok if the pack or the device lacks it
};

// Runs the program once from each rung but the overlay's, always as the same variant, and calls
// `done` after each run. If there is no reference, the first correct result counts. Memory of
// recorded launches holds numbers, or zeros if the first such run died of the numbers. A variant
// that Kiln cannot launch is only loaded. Fails as
// dry_run_loads() does, or with Code::failed if a rung failed, gave wrong results, or none ran.
Status run_each_rung(const packs::Program &program, const RunRequest &request,
                     const Reference &reference, const std::function<void(const RungRun &)> &done);

}  // namespace kiln::builder
