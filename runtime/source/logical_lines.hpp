// SPDX-License-Identifier: Apache-2.0
// Logical lines of OpenCL C: what a preprocessor sees after lines are spliced and comments are
// removed. Pure functions; thread-safe.
//
// The functions accept what they know: outside comments and literals printable ASCII, blanks, tabs,
// line ends, form feeds outside directives, and '$' in groups that every compiler skips: after
// `#if 0`, or what follows the group of `#if 1`. Anything else, or what compilers may divide into
// lines, comments and literals in different ways, is a Doubt, and the caller refuses the text.
#pragma once

#include <cstddef>
#include <functional>
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
  bool is_blank = true;  // has only blanks and comments
  // Of a directive, from its # on: without line ends and splices; a space for each comment. Empty
  // if the line is no directive.
  std::string code;
  std::vector<std::size_t> at;  // offset in the text of each byte of `code`
};

// The first place in a text that compilers may read in different ways.
struct Doubt {
  std::size_t at = 0;  // offset in the text
  std::string what;    // a noun phrase: "a trigraph"
  std::string cure{};  // what the author can do, in an imperative; may be empty
};

// Finds bytes to which compilers give different meanings, wherever they stand: NUL, Ctrl-Z, a
// carriage return without a line feed, trigraphs, and a backslash with blanks before the end of its
// line.
std::optional<Doubt> odd_bytes(std::string_view text);

// `lines` are the lines of the text, in order, without gaps. Line ends are "\n" or "\r\n". `doubt`
// is for odd_bytes(), for unknown characters in code, and for comments and literals that may end
// elsewhere for another compiler: words, comment marks or literals in two lines; comment marks
// within a literal, #error, #warning or <...>; raw strings; a quote behind a word, as in 1'000; a
// comment or a splice that the end of the text cuts off.
struct ScannedText {
  std::vector<LogicalLine> lines;
  std::optional<Doubt> doubt;
  // Code or a literal that is not certainly skipped has a dot, or an escape that may stand for one,
  // with which inline assembly may begin a directive such as .incbin; .reg and other names of PTX
  // do not count.
  bool has_bare_dot = false;
  std::size_t bare_dot_at = 0;  // offset in the text of the first one
};

// Called with each word of the code that does not begin with a digit; the words are in the text.
using TakeWord = std::function<void(std::string_view)>;

ScannedText scan(std::string_view text, const TakeWord &take_word = nullptr);

// Returns the names of the kernels that the text defines or declares, in its order and each once,
// as far as no macro hides them, also those in parts that the preprocessor skips.
std::vector<std::string> kernels_in(std::string_view text);

bool is_word_character(char c);  // a letter, a digit or '_'

std::string_view trimmed(std::string_view text);  // without blanks at both ends

std::string_view first_word(std::string_view text);  // at the beginning of `text`; may be empty

// Blanks within a line of code.
inline constexpr std::string_view kBlanks = " \t";

// A preprocessor directive: its name and the place of its operands in `code`.
struct Directive {
  std::string_view name;     // "include"; empty if the line is no directive
  std::size_t operands = 0;  // offset in `code` of the first operand, or size of `code`
  bool is_one = false;       // the line begins with #
};
Directive directive_of(const LogicalLine &line);

// Returns whether the line is no directive, or one of a list that every compiler understands alike,
// whether the text is one file or several; also of pragmas.
bool is_listed(const LogicalLine &line);

// Returns the macro of an include guard that spans the whole file, or nothing: the first directive
// is `#ifndef M`, the second is `#define M`, the last is the `#endif` of the first, and no code
// stands before or after. The view points into `lines`.
std::string_view include_guard(const std::vector<LogicalLine> &lines);

}  // namespace kiln::source
