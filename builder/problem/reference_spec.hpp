// SPDX-License-Identifier: Apache-2.0
// The words by which a manifest and a pack name the reference of a program. Pure.
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
//                           INPUT has the inputs, which are otherwise those of make_inputs()
//   library:FILE:FUNCTION   a function of a shared object (kiln/reference.h)
struct ReferenceSpec {
  enum class Kind : std::uint8_t { variant, file, library };
  Kind kind = Kind::variant;
  std::string name;      // the variant, or the file; a library's has no folder
  ProblemSize size;      // of a file
  std::string input;     // of a file; empty: none
  std::string function;  // of a library
};

inline constexpr const char *kReferenceRule =
    "expected variant:NAME, file:PATH:SIZE, file:PATH:SIZE:INPUT or library:FILE:FUNCTION";

// Nothing for any other text. Paths are relative and stay below their folder: a pack of strangers
// is not to choose what is read, and even less what is loaded as code.
std::optional<ReferenceSpec> parse_reference(std::string_view text);

}  // namespace kiln::builder
