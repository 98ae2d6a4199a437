// SPDX-License-Identifier: Apache-2.0
// Whether the driver still compiles at a program's first launch: the launch takes longer than the
// second one, or the driver's cache on disk grows, which a busy machine does not change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/launch/recorded_launch.hpp"
#include "builder/launch/session.hpp"
#include "runtime/device/device.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::builder {

// Whether such a driver keeps what it compiles at a launch below the folder of use_driver_caches().
bool keeps_compiled(runtime::Finishing finishing);

// Bytes below that folder which grow where this process's driver compiles, and at no other launch.
// Waits until Mesa's threads have written theirs.
std::uintmax_t compiled_bytes(const std::string &caches);

// Two launches of one program, each to its end, milliseconds.
struct FirstLaunch {
  double first = 0;
  double second = 0;
  bool executes = false;  // an output changed: a device without hardware may report success
  std::optional<bool> compiled{};  // if known by more than the times

  double first_launch_cost() const { return first - second; }
  // Unless it is known: whether that cost is over a millisecond and over twice the second launch.
  bool compiles() const {
    return compiled.value_or(first_launch_cost() > 1 && first_launch_cost() > 2 * second);
  }
};

// A small problem for the program: 64 x 64, or 64 x 64 x 64 if its sizes have a depth, or 4096 x 1
// if they are rows.
ProblemSize small_problem(const packs::Program &program);

// Launches what `session` was bound to twice. Its inputs are filled and its outputs overwritten.
// Fails as the session's calls do.
Status launch_twice(const packs::Program &program, const packs::Variant &variant, Session *session,
                    FirstLaunch *out);

// Launches the kernels of an application's program as they were seen to be launched, on memory of
// the same sizes that holds zeros: each launch three times, each to its end. `out` has the one that
// compiles most, and whether the device executes commands at all. Fails with Code::opencl, with
// Code::over_limit if a launch takes over 1 GiB, and with Code::requirement if something of it was
// not recorded. For processes that may end: what kernels do with zeros is not known.
//
// Those of `tuned` are launched, too; what the driver refuses of them the layer leaves to it.
// `memory`, if it is not null, gets a hash of each launch's memory after its repetitions.
Status launch_recorded(const runtime::Device &device, cl_program program,
                       const std::vector<RecordedLaunch> &launches,
                       const std::vector<RecordedLaunch> &tuned, FirstLaunch *out,
                       std::vector<std::uint64_t> *memory = nullptr);

}  // namespace kiln::builder
