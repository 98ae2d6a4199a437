// SPDX-License-Identifier: Apache-2.0
// Finds out whether the driver still compiles at a program's first launch: the launch takes longer
// than the second one, or the driver's cache on disk grows. A busy machine does not affect the
// cache.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/run/recorded_launch.hpp"
#include "builder/run/session.hpp"
#include "runtime/device/device.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::builder {

// Returns whether such a driver stores code that it compiles at a launch below the folder of
// use_driver_caches().
bool keeps_compiled(runtime::Finishing finishing);

// Returns a number of bytes below that folder. It grows when this process's driver compiles, and at
// no other launch. Waits until Mesa's threads have written theirs.
std::uintmax_t compiled_bytes(const std::string &caches);

// Times of two launches of one program, each until it completes, in milliseconds.
struct FirstLaunch {
  double first = 0;
  double second = 0;
  bool executes = false;  // an output changed: a device without hardware may report success
  std::optional<bool> compiled{};  // set if known by more than the times

  double first_launch_cost() const { return first - second; }
  // Returns `compiled` if set, else whether that cost is over a millisecond and over twice the
  // second launch.
  bool compiles() const {
    return compiled.value_or(first_launch_cost() > 1 && first_launch_cost() > 2 * second);
  }
};

// Returns a small problem for the program: 64 x 64, or 64 x 64 x 64 if its sizes have a depth, or
// 4096 x 1 if they are rows.
ProblemSize small_problem(const packs::Program &program);

// Launches the workload of `session` twice. Fills its inputs and overwrites its outputs. Fails as
// the session's calls do.
Status launch_twice(const packs::Program &program, const packs::Variant &variant, Session *session,
                    FirstLaunch *out);

// Launches the kernels of an application's program as recorded, on memory of the same sizes that
// holds zeros: each launch three times, each until it completes. `out` gets the launch that
// compiles most, and whether the device executes commands at all. Fails with Code::opencl, with
// Code::over_limit if a launch takes over 1 GiB, and with Code::requirement if part of a launch was
// not recorded. Only for processes that may end: the effect of zeros on kernels is not known.
//
// A launch that takes longer than `longest`, with what the driver compiles for it, ends the process
// by SIGALRM (ChildResult::is_endless): no driver can be made to end a launch.
//
// Also launches `tuned`, and ignores launches that the driver refuses: the layer leaves those to
// the driver. `memory`, if not null, gets a hash of each launch's memory after its repetitions.
Status launch_recorded(const runtime::Device &device, cl_program program,
                       const std::vector<RecordedLaunch> &launches,
                       const std::vector<RecordedLaunch> &tuned, std::chrono::seconds longest,
                       FirstLaunch *out, std::vector<std::uint64_t> *memory = nullptr);

// Returns the limit for a launch of a program that the driver built in that time: ten times as
// long, and at least 20 s, but at most half of the step's limit. The time that the launch took the
// application is not known. At least 1 s.
std::chrono::seconds longest_launch(std::uint64_t build_microseconds,
                                    std::chrono::milliseconds step);

}  // namespace kiln::builder
