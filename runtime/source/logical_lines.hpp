// SPDX-License-Identifier: Apache-2.0
// Logical lines of OpenCL C: what a preprocessor sees once lines are spliced and comments
// are gone. Pure functions; safe to use from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::source {

// One logical line. A backslash before a line end and a block comment carry it on over
// several lines of the text.
struct LogicalLine {
  std::size_t begin = 0;       // offsets in the text, of the first byte
  std::size_t end = 0;         // and behind the last, which is the line end if there is one
  std::size_t first_line = 1;  // counted from 1
  std::size_t line_count = 1;
  std::string code;             // without line ends and splices; a space for each comment
  std::vector<std::size_t> at;  // of a directive: for each byte of `code`, its offset in the text
};

// Directives are few, and most of the time goes to the code of other lines. Where they are not
// asked for, of their code there is what stands before the first character that is no space, and
// that.
enum class CodeOf { directives, all_lines };

// The lines of `text`, in order, without gaps. Line ends are "\n" or "\r\n".
std::vector<LogicalLine> logical_lines(std::string_view text, CodeOf code);

// A preprocessor directive: its name and the place of its operands in `code`.
struct Directive {
  std::string_view name;     // "include"; empty when the line is no directive
  std::size_t operands = 0;  // offset in `code` of the first operand, or its size
};
Directive directive_of(const LogicalLine &line);

// The macro of an include guard that spans the whole file, or nothing: the first directive
// is `#ifndef M`, the second `#define M`, the `#endif` that belongs to the first is the
// last, and no code stands before or behind. The view is into `lines`.
std::string_view include_guard(const std::vector<LogicalLine> &lines);

}  // namespace kiln::source
