// SPDX-License-Identifier: Apache-2.0
// Reports what happens to an application's programs, in a file of JSON lines that processes share,
// and in a folder with a file for each process. Nothing is reported unless the settings name one;
// docs/use/layer.md describes the lines.
#pragma once

#include <chrono>
#include <set>
#include <string>

#include "kiln/packs/status.hpp"
#include "runtime/layer/base/next.hpp"

namespace kiln::layer {

// What became of a program while the layer records.
enum class Recorded : std::uint8_t {
  no,
  yes,
  // There is nothing to record: a library of functions, which the programs that are linked with it
  // hold, or a program that the driver does not build.
  needless,
};

// Reasons for the report.
inline constexpr char kRefused[] = "the driver does not build it";
inline constexpr char kStillRefused[] = "the driver does not build it, as the overlay remembers";

// A build that an application asked for.
struct Built {
  std::string program;                 // program_name()
  std::set<std::string> kernels = {};  // if it was refused
  std::string rung;                    // empty: built by the driver, as the application asked
  std::string reason;                  // why it was not loaded from a binary; empty if it was
  std::string nearest;                 // JSON, from Served
  std::string missing;   // why it was not served, for the reason of a build that is noted
  bool refused = false;  // the settings require more than there is
  Recorded recorded = Recorded::no;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  void set_driver_refused() {
    reason = kRefused;
    recorded = Recorded::needless;
  }
};

// Identifies a run of a process by 16 hexadecimal digits; process ids are used again.
const std::string &this_process();

// Reports that the layer was reached: "started".
void report_start();

// Tells the report that a program was noted for later runs.
void report_noted();

// Reports a build: "served", "compiled" (from the pack's source), "passed" or "refused", with the
// names of the kernels and devices of `made`, which may be null: then of the kernels of `built`.
// Also with the time since `built.start`, which the application waited unless it asked for a
// callback. Under `kiln serve`, also says on standard error, once, that programs have been compiled
// for over kLongCompilation, and whether any was noted.
inline constexpr std::chrono::seconds kLongCompilation{2};
void report_build(const Built &built, cl_program made);

// Reports a program that the application made of a binary of its own: "own_binary".
void report_own_binary(std::size_t bytes, std::chrono::steady_clock::time_point start);

// Tells the report that a kernel was launched, or that the application has waited for results. The
// first wait after a launch is reported with the time since the process began: "first_result".
void note_launch();
void note_results();

}  // namespace kiln::layer
