// SPDX-License-Identifier: Apache-2.0
// Writes what an application built into a spool: a folder with a base pack for each program; and
// which start of which command built it, by which `kiln inspect` sees the programs that differ at
// each start.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "kiln/packs/contents.hpp"
#include "runtime/source/whole_program.hpp"
#include "runtime/spool/devices.hpp"
#include "runtime/spool/launches.hpp"

namespace kiln::layer {

using source::WholeProgram;

// The program with its kernels, which are asked for and released; nothing if it has none, as a
// library of functions. `built` was built by the driver.
std::optional<packs::Contents> contents_of(cl_program built, const WholeProgram &program);

// The failure of a program without kernels; of a library that is no fault.
packs::Status without_kernels();

// Of writers of one spool: an application must not wait for a process that was stopped.
inline constexpr std::chrono::milliseconds kPatience{2000};

// Whatever goes wrong is said once a process.
void complain_once(const std::string &text);

// The spool gets FOLDER/NAME.kiln, unless it stands there: whole or not at all, whichever processes
// write the same at once. The files that it includes are written beside it, before it
// (source/recorded_files.hpp). Of different devices each set of kernels is a variant. Fails with
// Code::requirement if it has no kernels.
packs::Status record_program(cl_program built, const Devices &devices, const WholeProgram &program,
                             const std::string &folder);

// Adds the launch to the program's file, unless that has one of its kind, or as many as a program
// may have. A failure is complained about.
void record_launch(const Launches::Fresh &launch);

// SPOOL/starts gets a line "START COMMAND PROGRAM", once a program and process; START and COMMAND,
// of the words of the command line, are 16 hexadecimal digits. Nothing is noted if the file has
// kMostOfStarts bytes or cannot be written: that costs a hint.
inline constexpr long kMostOfStarts = 16 << 20;

// The same of SPOOL/links, with a line of the program's name: it is linked of several, which
// `kiln build` cannot make.
void note_link(const std::string &spool, const std::string &program);

}  // namespace kiln::layer
