// SPDX-License-Identifier: Apache-2.0
// Finds the smallest text, options and problem with which a driver builds a variant wrongly, for a
// report to the driver's vendor.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/machine/device_info.hpp"
#include "builder/problem/plane.hpp"
#include "builder/problem/program_shape.hpp"
#include "builder/process/child_result.hpp"
#include "builder/run/reference.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct BisectRequest {
  const packs::Program &program;
  const packs::Variant &variant;  // with its source
  const DeviceInfo &device;
  std::vector<DeviceInfo> others;  // devices of other drivers, to compare with
  std::string pack_path;           // beside which files of references lie
  ReferenceOptions references{};
  CallLimits limits{std::chrono::minutes(2)};  // for each try
  double budget_seconds = 600;                 // after which what is found by then is returned
  // Gets the number of lines that are left, and of tries so far.
  std::function<void(std::size_t lines, std::size_t tries)> progress{};
};

struct BisectResult {
  std::string finding{};  // a sentence without a full stop; empty: nothing is wrong
  std::string printed{};  // by the process that died, if one did: the end of it
  // The name of a workaround with which it is right, else the label of a device where it is; empty:
  // not known.
  std::string right_with{};
  bool is_device = false;     // right_with is one
  bool is_confirmed = false;  // the variant itself was compared with a reference
  std::string options{};
  std::string text{};
  std::size_t lines_before = 0, lines = 0;  // by statement
  std::size_t tries = 0;
  bool was_cut_short = false;  // by the budget
  bool is_guarded = false;     // clang finds no variable that is used without a value
  ProblemSize size{};
  // Of wrong results; else empty.
  std::vector<Plane> inputs{}, found{}, expected{};
};

// Fails with Code::requirement if the variant has no source, or if the device cannot take it.
//
// A text with other results is compared with the same text built with a workaround that is right
// for the variant itself, else with the same text on another device, so a step that changes what is
// computed changes both. A workaround of the manifest chooses other text, and serves for no step.
// The caller must be single-threaded and have loaded no driver, as fork_call() requires.
Result<BisectResult> bisect(const BisectRequest &request);

// Returns a report in Markdown: device and driver, options, problem, values, and the text.
std::string bisect_report(const BisectResult &result, const packs::Program &program,
                          const packs::Variant &variant, const DeviceInfo &device);

}  // namespace kiln::builder
