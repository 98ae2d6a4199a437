// SPDX-License-Identifier: Apache-2.0
// Logical lines of OpenCL C: what a preprocessor sees after lines are spliced and comments are
// removed. Pure functions; thread-safe.
//
// The functions accept a strict subset: a text that compilers may divide into lines, comments and
// literals in different ways has a Doubt, and the caller refuses it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::source {

// One logical line. A backslash before a line end, or a block comment, continues it over several
// lines of the text.
struct LogicalLine {
  std::size_t begin = 0;       // offset of the first byte in the text
  std::size_t end = 0;         // offset past the last byte, which is the line end if there is one
  std::size_t first_line = 1;  // counted from 1
  std::size_t line_count = 1;
  std::string code;             // without line ends and splices; a space for each comment
  std::vector<std::size_t> at;  // for a directive: the offset in the text of each byte of `code`
};

// The lines whose code scan() returns. Directives are few, and most of the time goes to the code of
// other lines. With `directives`, the code of other lines ends after its first character that is no
// space.
enum class CodeOf { directives, all_lines };

// The first place in a text that compilers may read in different ways.
struct Doubt {
  std::size_t at = 0;  // offset in the text
  std::string what;    // a noun phrase: "a trigraph"
};

// Finds bytes to which compilers give different meanings: NUL, Ctrl-Z, a carriage return without a
// line feed, trigraphs, "%:", and a backslash with blanks before the end of its line.
std::optional<Doubt> odd_bytes(std::string_view text);

// `lines` are the lines of the text, in order, without gaps. Line ends are "\n" or "\r\n". `doubt`
// is for comments and literals that may end elsewhere for another compiler: comment marks within a
// literal, #error, #warning or <...>; raw strings; universal character names; a comment or a splice
// that the end of the text cuts off.
struct ScannedText {
  std::vector<LogicalLine> lines;
  std::optional<Doubt> doubt;
};
ScannedText scan(std::string_view text, CodeOf code);

bool is_word_character(char c);  // a letter, a digit or '_'

std::string_view trimmed(std::string_view text);  // without blanks at both ends

std::string_view first_word(std::string_view text);  // at the beginning of `text`; may be empty

// Blanks within a line of code.
inline constexpr std::string_view kBlanks = " \t\v\f\r";

// A preprocessor directive: its name and the place of its operands in `code`.
struct Directive {
  std::string_view name;     // "include"; empty if the line is no directive
  std::size_t operands = 0;  // offset in `code` of the first operand, or size of `code`
  bool is_one = false;       // the line begins with #
};
Directive directive_of(const LogicalLine &line);

// Returns the macro of an include guard that spans the whole file, or nothing: the first directive
// is `#ifndef M`, the second is `#define M`, the last is the `#endif` of the first, and no code
// stands before or after. The view points into `lines`.
std::string_view include_guard(const std::vector<LogicalLine> &lines);

}  // namespace kiln::source
