// SPDX-License-Identifier: Apache-2.0
// Which starts of an application asked for which programs: lines "START COMMAND PROGRAM", in a
// spool's file, or in that of a driver's noted programs with the program's shape behind. Finds the
// programs whose text differs at each start.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kiln/packs/contents.hpp"

namespace kiln::cached {

// Programs of one shape for which one command line asked, and the starts that did.
struct Family {
  std::map<std::string, std::set<std::string>> programs;
  std::set<std::string> starts;

  // Returns whether three starts or more asked for programs that no other start asked for. Two are
  // too few: the application may have been upgraded between them.
  bool is_varying() const;
};
using Families = std::map<std::pair<std::string, std::string>, Family>;  // by command and shape

// Reads the lines; skips incomplete ones, which killed processes leave, and programs without a
// shape. `shape_of` is given the program and the line's fourth word.
using ShapeOf = std::function<std::string(const std::string &program, const std::string &word)>;
Families families_of(std::string_view lines, const ShapeOf &shape_of);
// The same for lines with shapes.
Families families_of(std::string_view lines);

// Returns the shape of a program: its options and kernel names, which stay the same if only the
// text differs at each start.
std::string shape_of(const packs::Program &program);

}  // namespace kiln::cached
