// SPDX-License-Identifier: Apache-2.0
// Writes an application's programs to a spool: a folder with a base pack for each program. Also
// notes which start of which command built a program, so that `kiln pack inspect` sees programs
// that differ at each start.
#pragma once

#include <chrono>
#include <string>

#include "kiln/packs/status.hpp"
#include "runtime/layer/base/devices.hpp"
#include "runtime/layer/record/launches.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::layer {

using source::WholeProgram;

// Longest wait for other writers of a spool: an application must not wait for a stopped process.
inline constexpr std::chrono::milliseconds kPatience{2000};

// Writes FOLDER/NAME.kiln in the spool unless it exists: whole or not at all, even if several
// processes write it at once. Writes the included files before it, beside it
// (source/recorded_files.hpp). If devices have different sets of kernels, each set is a variant.
// Fails with Code::requirement if the program has no kernels.
packs::Status record_program(cl_program built, const Devices &devices, const WholeProgram &program,
                             const std::string &folder);

// Adds the launch to the program's file, unless the file has one of its kind, or as many as a
// program may have. Complains if that fails.
void record_launch(const Launches::Fresh &launch);

// The largest SPOOL/starts, in bytes. The file gets a line "START COMMAND PROGRAM" once per program
// and process; START and COMMAND, a hash of the command line, are 16 hexadecimal digits. No line is
// added if the file is full or cannot be written: that only costs a hint.
inline constexpr long kMaxStartsSize = 16 << 20;

}  // namespace kiln::layer
