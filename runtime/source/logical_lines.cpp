// SPDX-License-Identifier: Apache-2.0
// A scanner of splices, comments and literals, and the directives among its lines.
#include "runtime/source/logical_lines.hpp"

#include <algorithm>

namespace kiln::source {
namespace {

bool is_space_in_line(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

bool is_identifier_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether a byte of code is only code, whatever stands beside it.
bool is_plain(char c) {
  return c != '\\' && c != '\n' && c != '\r' && c != '/' && c != '"' && c != '\'';
}

// Walks the text once; every byte is either code, comment, splice or line end.
class Scanner {
 public:
  Scanner(std::string_view text, bool all_code) : text_(text), all_code_(all_code) {}

  bool done() const { return at_ >= text_.size(); }

  LogicalLine next() {
    LogicalLine line;
    line.begin = at_;
    line.first_line = line_;
    state_ = State::code;
    may_be_directive_ = true;
    is_directive_ = false;
    do {
      if (state_ == State::code) keep_plain(line);
    } while (!done() && step(line));
    if (!is_directive_) line.at.clear();
    line.end = at_;
    line.line_count = std::max<std::size_t>(1, line_ - line.first_line);
    return line;
  }

 private:
  enum class State { code, line_comment, block_comment, string, character };

  char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // The size of the line end at `ahead`, 0 if there is none.
  std::size_t line_end(std::size_t ahead) const {
    if (peek(ahead) == '\n') return 1;
    return peek(ahead) == '\r' && peek(ahead + 1) == '\n' ? 2 : 0;
  }

  void keep(LogicalLine &line, char c) {
    if (!may_be_directive_ && !all_code_) return;
    line.code += c;
    if (!may_be_directive_) return;
    line.at.push_back(at_);
    if (is_space_in_line(c) || is_directive_) return;
    is_directive_ = c == '#';
    may_be_directive_ = is_directive_;
  }

  // Most of a text, in one go.
  void keep_plain(LogicalLine &line) {
    for (; may_be_directive_ && !done() && is_plain(text_[at_]); ++at_) keep(line, text_[at_]);
    const std::size_t begin = at_;
    while (!done() && is_plain(text_[at_])) ++at_;
    if (all_code_) line.code += text_.substr(begin, at_ - begin);
  }

  // Takes one byte, or a pair that belongs together. False behind the line's end.
  bool step(LogicalLine &line) {
    if (peek(0) == '\\' && line_end(1) > 0) {
      at_ += 1 + line_end(1);
      ++line_;
      return true;
    }
    if (const std::size_t size = line_end(0)) {
      at_ += size;
      ++line_;
      return state_ == State::block_comment;
    }
    if (state_ == State::block_comment) {
      if (peek(0) == '*' && peek(1) == '/') {
        state_ = State::code;
        ++at_;
      }
    } else if (state_ != State::line_comment) {
      step_code(line);
    }
    ++at_;
    return true;
  }

  void step_code(LogicalLine &line) {
    const char c = peek(0);
    if (state_ == State::code && c == '/' && (peek(1) == '/' || peek(1) == '*')) {
      state_ = peek(1) == '/' ? State::line_comment : State::block_comment;
      keep(line, ' ');
      ++at_;
      return;
    }
    keep(line, c);
    const char quote = state_ == State::string ? '"' : '\'';
    if (state_ == State::code) {
      if (c == '"') state_ = State::string;
      if (c == '\'') state_ = State::character;
    } else if (c == quote) {
      state_ = State::code;
    } else if (c == '\\' && line_end(1) == 0 && at_ + 1 < text_.size()) {
      ++at_;
      keep(line, peek(0));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  State state_ = State::code;
  bool may_be_directive_ = true;  // no code stands before, but spaces or #
  bool is_directive_ = false;
  bool all_code_;
};

bool is_blank(const LogicalLine &line) {
  return std::all_of(line.code.begin(), line.code.end(), is_space_in_line);
}

std::string_view first_word(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_identifier_character);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::string_view operand_word(const LogicalLine &line, const Directive &directive) {
  return first_word(std::string_view(line.code).substr(directive.operands));
}

}  // namespace

std::vector<LogicalLine> logical_lines(std::string_view text, CodeOf code) {
  std::vector<LogicalLine> lines;
  Scanner scanner(text, code == CodeOf::all_lines);
  while (!scanner.done()) lines.push_back(scanner.next());
  return lines;
}

Directive directive_of(const LogicalLine &line) {
  const std::string &code = line.code;
  const auto skip_spaces = [&code](std::size_t at) {
    while (at < code.size() && is_space_in_line(code[at])) ++at;
    return at;
  };
  const std::size_t hash = skip_spaces(0);
  if (hash == code.size() || code[hash] != '#') return {{}, code.size()};
  const std::size_t begin = skip_spaces(hash + 1);
  const std::string_view name = first_word(std::string_view(code).substr(begin));
  return {name, skip_spaces(begin + name.size())};
}

std::string_view include_guard(const std::vector<LogicalLine> &lines) {
  std::string_view macro;
  std::size_t directives = 0, depth = 0;
  bool closed = false;
  for (const LogicalLine &line : lines) {
    if (is_blank(line)) continue;
    const Directive directive = directive_of(line);
    const std::string_view name = directive.name;
    if (closed || (directives < 2 && name.empty())) return {};
    if (name.empty()) continue;
    if (directives == 0) macro = name == "ifndef" ? operand_word(line, directive) : "";
    if (macro.empty()) return {};
    if (directives == 1 && (name != "define" || operand_word(line, directive) != macro)) return {};
    if (name.starts_with("if")) ++depth;
    if (depth == 1 && name.starts_with("el")) return {};
    if (name == "endif" && --depth == 0) closed = true;
    ++directives;
  }
  return closed ? macro : std::string_view{};
}

}  // namespace kiln::source
