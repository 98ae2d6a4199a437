// SPDX-License-Identifier: Apache-2.0
// Scans splices, comments and literals, and finds directives among the lines.
#include "runtime/source/logical_lines.hpp"

#include <algorithm>

namespace kiln::source {
namespace {

bool is_space_in_line(char c) { return kBlanks.find(c) != std::string_view::npos; }

// Returns whether a byte of code is only code, whatever is next to it.
bool is_plain(char c) {
  return c != '\\' && c != '\n' && c != '\r' && c != '/' && c != '"' && c != '\'';
}

// Walks the text once; every byte is either code, comment, splice or line end.
class Scanner {
 public:
  Scanner(std::string_view text, bool all_code) : text_(text), all_code_(all_code) {}

  bool done() const { return at_ >= text_.size(); }
  std::optional<Doubt> take_doubt() { return std::move(doubt_); }

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
    if (is_literal() && literal_has_comment_) doubt("a literal that does not end, with a comment");
    if (done() && state_ == State::block_comment) doubt("a comment that does not end");
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

  // Returns the size of the line end at `ahead`, 0 if there is none.
  std::size_t line_end(std::size_t ahead) const {
    if (peek(ahead) == '\n') return 1;
    return peek(ahead) == '\r' && peek(ahead + 1) == '\n' ? 2 : 0;
  }

  static bool is_comment_mark(char c) { return c == '/' || c == '*'; }

  // Returns the byte before this position, without the splices in between.
  char before_splices() const {
    std::string_view before = text_.substr(0, at_);
    for (const std::string_view splice : {"\\\n", "\\\r\n"}) {
      while (before.ends_with(splice)) before.remove_suffix(splice.size());
    }
    return before.empty() ? '\0' : before.back();
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

  // Takes all plain bytes at once: most of a text.
  void keep_plain(LogicalLine &line) {
    for (; may_be_directive_ && !done() && is_plain(text_[at_]); ++at_) keep(line, text_[at_]);
    const std::size_t begin = at_;
    while (!done() && is_plain(text_[at_])) ++at_;
    if (all_code_) line.code += text_.substr(begin, at_ - begin);
  }

  // Takes one byte, or a pair that belongs together. Returns false after the line's end.
  bool step(LogicalLine &line) {
    if (peek(0) == '\\' && line_end(1) > 0) {
      const char before = before_splices();
      at_ += 1 + line_end(1);
      ++line_;
      if (done()) doubt("a backslash at the end of the file");
      if (is_comment_mark(before) && is_comment_mark(peek(0))) doubt("a comment mark in two lines");
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

  bool is_literal() const { return state_ == State::string || state_ == State::character; }

  bool begins_comment() const { return peek(0) == '/' && (peek(1) == '/' || peek(1) == '*'); }

  void step_code(LogicalLine &line) {
    const char c = peek(0);
    if (state_ == State::code && begins_comment()) {
      check_comment(line);
      state_ = peek(1) == '/' ? State::line_comment : State::block_comment;
      keep(line, ' ');
      ++at_;
      return;
    }
    keep(line, c);
    const char quote = state_ == State::string ? '"' : '\'';
    if (state_ == State::code) {
      if (c == '"' || c == '\'') begin_literal(c);
    } else if (c == quote) {
      // A string may hold a URL.
      const bool is_odd = literal_has_comment_ && state_ == State::character;
      if (literal_has_block_ || is_odd) doubt("a comment within a literal");
      state_ = State::code;
    } else if (begins_comment()) {
      literal_has_comment_ = true;
      literal_has_block_ = literal_has_block_ || peek(1) == '*';
    } else if (c == '\\' && at_ + 1 == text_.size()) {
      doubt("a backslash at the end of the file");
    } else if (c == '\\' && line_end(1) == 0) {
      if (peek(1) == '\\' && line_end(2) > 0) doubt("a backslash before a splice in a literal");
      ++at_;
      keep(line, peek(0));
    }
    if (state_ == State::code && c == '\\' && (peek(1) == 'u' || peek(1) == 'U')) {
      doubt("a universal character name");
    }
    if (state_ == State::code && c == '\\' && at_ + 1 == text_.size()) {
      doubt("a backslash at the end of the file");
    }
  }

  // R"(...)" is a raw string in C++ for OpenCL.
  void begin_literal(char quote) {
    state_ = quote == '"' ? State::string : State::character;
    literal_has_comment_ = literal_has_block_ = false;
    if (quote == '"' && before_splices() == 'R') doubt("a raw string");
  }

  // Compilers do not look for comments in the message of #error, nor in <...>.
  void check_comment(const LogicalLine &line) {
    if (!is_directive_) return;
    const Directive directive = directive_of(line);
    const bool is_message = directive.name == "error" || directive.name == "warning";
    if (is_message && peek(1) == '*') doubt("a comment in #error or #warning");
    const std::string_view operands = std::string_view(line.code).substr(directive.operands);
    if (operands.starts_with('<') && operands.find('>') == std::string_view::npos) {
      doubt("a comment within <...>");
    }
  }

  void doubt(const char *what) {
    if (!doubt_) doubt_ = Doubt{std::min(at_, text_.size()), what};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  State state_ = State::code;
  bool may_be_directive_ = true;  // only spaces or # so far
  bool is_directive_ = false;
  bool all_code_;
  bool literal_has_comment_ = false;  // the beginning of a comment
  bool literal_has_block_ = false;    // in particular /*
  std::optional<Doubt> doubt_;
};

bool is_blank(const LogicalLine &line) {
  return std::all_of(line.code.begin(), line.code.end(), is_space_in_line);
}

std::string_view operand_word(const LogicalLine &line, const Directive &directive) {
  return first_word(std::string_view(line.code).substr(directive.operands));
}

}  // namespace

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view first_word(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_word_character);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::optional<Doubt> odd_bytes(std::string_view text) {
  constexpr std::string_view kTrigraphs = "=/'()!<>-";
  const auto next = [text](std::size_t at) { return at + 1 < text.size() ? text[at + 1] : '\0'; };
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
    return Doubt{at, "a byte of value 0"};
  }
  // This byte ends the file with Microsoft's extensions, wherever drivers enable them.
  if (const std::size_t at = text.find('\x1a'); at != std::string_view::npos) {
    return Doubt{at, "a byte of value 26"};
  }
  for (std::size_t at = 0; (at = text.find('\r', at)) != std::string_view::npos; ++at) {
    if (next(at) != '\n') return Doubt{at, "a carriage return without a line feed"};
  }
  for (std::size_t at = 0; (at = text.find('?', at)) != std::string_view::npos; ++at) {
    if (next(at) == '?' && at + 2 < text.size() &&
        kTrigraphs.find(text[at + 2]) != std::string_view::npos) {
      return Doubt{at, "a trigraph"};
    }
  }
  for (std::size_t at = 0; (at = text.find('%', at)) != std::string_view::npos; ++at) {
    if (next(at) == ':') return Doubt{at, "%:"};
  }
  for (std::size_t at = 0; (at = text.find('\\', at)) != std::string_view::npos; ++at) {
    const std::size_t end = std::min(text.find_first_not_of(" \t\v\f", at + 1), text.size());
    const bool ends_line = end == text.size() || text[end] == '\n' || text[end] == '\r';
    if (end > at + 1 && ends_line) return Doubt{at, "blanks between a backslash and a line end"};
  }
  return std::nullopt;
}

ScannedText scan(std::string_view text, CodeOf code) {
  ScannedText scanned;
  Scanner scanner(text, code == CodeOf::all_lines);
  while (!scanner.done()) scanned.lines.push_back(scanner.next());
  scanned.doubt = scanner.take_doubt();
  return scanned;
}

Directive directive_of(const LogicalLine &line) {
  const std::string &code = line.code;
  const auto skip_spaces = [&code](std::size_t at) {
    while (at < code.size() && is_space_in_line(code[at])) ++at;
    return at;
  };
  const std::size_t hash = skip_spaces(0);
  if (hash == code.size() || code[hash] != '#') return {{}, code.size(), false};
  const std::size_t begin = skip_spaces(hash + 1);
  const std::string_view name = first_word(std::string_view(code).substr(begin));
  return {name, skip_spaces(begin + name.size()), true};
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
