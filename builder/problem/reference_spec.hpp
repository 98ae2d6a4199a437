// SPDX-License-Identifier: Apache-2.0
// Parses the text by which a manifest and a pack name a program's reference. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "builder/problem/program_shape.hpp"

namespace kiln::builder {

// One of
//   variant:NAME            another variant of the program
//   file:PATH:SIZE[:INPUT]  a file with the outputs for problems of that size, one after the other;
//                           INPUT is a file with the inputs; without it make_inputs() makes them
//   library:FILE:FUNCTION   a function of a shared object (kiln/reference.h)
struct ReferenceSpec {
  enum class Kind : std::uint8_t { variant, file, library };
  Kind kind = Kind::variant;
  std::string name;      // the variant, or the file; a library's file has no folder
  ProblemSize size;      // for a file
  std::string input;     // for a file; empty: none
  std::string function;  // for a library
};

inline constexpr const char *kReferenceRule =
    "expected variant:NAME, file:PATH:SIZE, file:PATH:SIZE:INPUT or library:FILE:FUNCTION";

// Parses a reference; nothing for any other text. Paths are relative and stay below their folder: a
// stranger's pack must not choose which files are read, and even less which are loaded as code.
std::optional<ReferenceSpec> parse_reference(std::string_view text);

}  // namespace kiln::builder
