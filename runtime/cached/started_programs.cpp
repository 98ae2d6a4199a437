// SPDX-License-Identifier: Apache-2.0
// Sorts the lines by command and shape.
#include "runtime/cached/started_programs.hpp"

#include <algorithm>
#include <array>

namespace kiln::cached {

bool Family::is_varying() const {
  return starts.size() > 2 && std::all_of(programs.begin(), programs.end(),
                                          [](const auto &one) { return one.second.size() == 1; });
}

Families families_of(std::string_view lines, const ShapeOf &shape_of) {
  Families families;
  while (!lines.empty()) {
    std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    std::array<std::string, 4> words;
    for (std::string &word : words) {
      word = line.substr(0, line.find(' '));
      line.remove_prefix(std::min(word.size() + 1, line.size()));
    }
    const auto &[start, command, program, last] = words;
    std::string shape = shape_of(program, last);
    if (shape.empty()) continue;
    Family &family = families[{command, std::move(shape)}];
    family.programs[program].insert(start);
    family.starts.insert(start);
  }
  return families;
}

Families families_of(std::string_view lines) {
  return families_of(lines, [](const std::string &, const std::string &word) { return word; });
}

std::string shape_of(const packs::Program &program) {
  std::string shape;
  for (const packs::Variant &variant : program.variants) {
    shape += variant.options;
    for (const packs::Kernel &kernel : variant.kernels) shape += '\n' + kernel.name;
    shape += '\0';
  }
  return shape;
}

}  // namespace kiln::cached
