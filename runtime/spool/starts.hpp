// SPDX-License-Identifier: Apache-2.0
// Which start of which command built a recorded program: by that `kiln inspect` sees which programs
// differ at each start. And what the spool has no pack of.
#pragma once

#include <string>

namespace kiln::layer {

// SPOOL/starts gets a line "START COMMAND PROGRAM", once a program and process; START and COMMAND,
// of the words of the command line, are 16 hexadecimal digits. Nothing is noted if the file has
// kMostOfStarts bytes or cannot be written: that costs a hint.
inline constexpr long kMostOfStarts = 16 << 20;
void note_start(const std::string &spool, const std::string &program);

// The same of SPOOL/links, with a line of the program's name: it is linked of several, which
// `kiln build` cannot make.
void note_link(const std::string &spool, const std::string &program);

}  // namespace kiln::layer
