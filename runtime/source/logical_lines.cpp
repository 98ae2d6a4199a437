// SPDX-License-Identifier: Apache-2.0
// Scans splices, comments and literals, and finds directives among the lines.
#include "runtime/source/logical_lines.hpp"

#include <algorithm>
#include <set>

#include "kiln/packs/text.hpp"

namespace kiln::source {
namespace {

bool is_space_in_line(char c) { return kBlanks.find(c) != std::string_view::npos; }

bool names_file(std::string_view directive) {
  return directive == "include" || directive == "line";
}

// Names of PTX that begin with a dot, and for which no assembler reads a file.
constexpr std::string_view kPtxNames[] = {
    "reg",  "sreg",  "pred",   "b8",    "b16",   "b32",    "b64", "b128", "u8",   "u16",
    "u32",  "u64",   "s8",     "s16",   "s32",   "s64",    "f16", "f32",  "f64",  "f16x2",
    "bf16", "const", "global", "local", "param", "shared", "v2",  "v4",   "align"};
constexpr std::size_t kLongestPtxName = 6;

bool is_comment_mark(char c) { return c == '/' || c == '*'; }

// Walks the text once; every byte is either code, comment, splice or line end.
class Scanner {
 public:
  Scanner(std::string_view text, const TakeWord &take_word) : text_(text), take_word_(take_word) {}

  ScannedText run() {
    while (!done()) found_.lines.push_back(next());
    return std::move(found_);
  }

 private:
  bool done() const { return at_ >= text_.size(); }

  char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // Returns the size of the line end at `ahead`, 0 if there is none.
  std::size_t line_end(std::size_t ahead) const {
    if (peek(ahead) == '\n') return 1;
    return peek(ahead) == '\r' && peek(ahead + 1) == '\n' ? 2 : 0;
  }

  LogicalLine next() {
    LogicalLine line;
    line.begin = at_;
    line.first_line = line_;
    line_of_ = &line;
    is_directive_ = false;
    has_form_feed_ = false;
    directive_ = {};
    last_ = '\n';
    while (!done() && line_end(0) == 0) step();
    if (!done()) {
      at_ += line_end(0);
      ++line_;
    }
    line.end = at_;
    line.line_count = std::max<std::size_t>(1, line_ - line.first_line);
    if (is_directive_) note_condition(directive_of(line), line);
    return line;
  }

  // Finds groups that every compiler skips: after #if 0, and the rest after #if 1.
  void note_condition(const Directive &directive, const LogicalLine &line) {
    const std::string_view name = directive.name;
    const std::string_view condition =
        trimmed(std::string_view(line.code).substr(directive.operands));
    if (name.starts_with("if")) {
      const bool is_if = name == "if";
      conditions_.push_back({is_skipped(), is_if && condition == "1", is_skipped()});
      if (is_if && condition == "0") conditions_.back().skips = true;
    } else if (conditions_.empty()) {
      return;
    } else if (name == "endif") {
      conditions_.pop_back();
    } else if (name.starts_with("el")) {
      Condition &last = conditions_.back();
      last.skips = last.is_within_skipped || last.was_taken || (name == "elif" && condition == "0");
    }
  }

  bool is_skipped() const { return !conditions_.empty() && conditions_.back().skips; }

  // Takes a word, a comment, a literal, a splice or one other byte.
  void step() {
    const char c = peek(0);
    if (is_word_character(c)) return word();
    if (c == '\\') return splice();
    if (c == '/' && (peek(1) == '/' || peek(1) == '*')) return comment();
    if (c == '"' || c == '\'') return literal(c);
    if (c == '\f' && !is_directive_) return form_feed();
    const bool is_known =
        c == '$' ? is_skipped() && !is_directive_ : c == '\t' || (c >= ' ' && c <= '~');
    if (!is_known) {
      doubt("a character that is not known in code",
            "write ASCII without $ outside comments and strings");
    }
    if (c == '%' && peek(1) == ':') doubt("%:");
    if (c == '.') dot(false);
    keep(1);
  }

  // A form feed is a blank, but not in directives, of which C says so.
  void form_feed() {
    has_form_feed_ = true;
    last_ = ' ';
    ++at_;
  }

  // Keeps the next bytes, if they are code of a directive.
  void keep(std::size_t size) {
    const char c = peek(0);
    if (line_of_->is_blank && !is_space_in_line(c)) {
      line_of_->is_blank = false;
      is_directive_ = c == '#';
      if (is_directive_ && has_form_feed_) {
        doubt("a form feed before a directive", "put it into a line of its own");
      }
    }
    for (std::size_t i = 0; is_directive_ && i < size; ++i) {
      line_of_->code += text_[at_ + i];
      line_of_->at.push_back(at_ + i);
    }
    at_ += size;
    last_ = text_[at_ - 1];
  }

  void word() {
    const std::string_view found = first_word(text_.substr(at_));
    if (take_word_ && (found[0] < '0' || found[0] > '9')) take_word_(found);
    keep(found.size());
  }

  // A backslash continues the line, and does nothing else outside literals. Compilers must not
  // join words or comment marks of two lines.
  void splice() {
    const std::size_t size = line_end(1);
    if (size == 0) {
      doubt("a backslash that does not end its line");
      return keep(1);
    }
    skip_splice(size);
    if (done()) doubt("a backslash at the end of the file");
    if (is_word_character(last_) && is_word_character(peek(0))) doubt("a word in two lines");
    if (is_comment_mark(last_) && is_comment_mark(peek(0))) doubt("a comment mark in two lines");
    if (last_ == '%' && peek(0) == ':') doubt("%:");
    if (last_ == 'R' && peek(0) == '"') doubt("a raw string");
  }

  void skip_splice(std::size_t line_end_size) {
    at_ += 1 + line_end_size;
    ++line_;
  }

  // Takes the comment, but not the line end behind a line comment.
  void comment() {
    check_comment();
    const bool is_block = peek(1) == '*';
    if (is_directive_) {
      line_of_->code += ' ';
      line_of_->at.push_back(at_);
    }
    last_ = ' ';
    bool follows_splice = false;
    char before = '\0';
    for (at_ += 2; !done(); ++at_) {
      const std::size_t size = line_end(0);
      if (peek(0) == '\\' && line_end(1) > 0) {
        skip_splice(line_end(1));
        if (done()) doubt("a backslash at the end of the file");
        --at_;
        follows_splice = true;
        continue;
      }
      if (size > 0 && !is_block) return;
      if (size > 0) ++line_;
      if (is_block && before == '*' && peek(0) == '/') {
        if (follows_splice) doubt("a comment mark in two lines");
        ++at_;
        return;
      }
      before = peek(0);
      follows_splice = false;
      if (size == 2) ++at_;
    }
    if (is_block) doubt("a comment that does not end");
  }

  // Compilers do not look for comments in the message of #error, nor in <...>.
  void check_comment() {
    if (!is_directive_) return;
    const std::string_view name = directive_name();
    const bool is_message = name == "error" || name == "warning";
    if (is_message && peek(1) == '*') doubt("a comment in #error or #warning");
    if (is_within_angles()) doubt("a comment within <...>");
  }

  // Returns the name that directive_of() finds in the line so far. Literals and comments ask for it
  // again and again, so the search goes on from where it ended.
  std::string_view directive_name() {
    const std::string_view code = line_of_->code;
    const auto skip = [code](std::size_t at, bool (*passes)(char)) {
      while (at < code.size() && passes(code[at])) ++at;
      return at;
    };
    DirectiveSoFar &so_far = directive_;
    so_far.name = skip(so_far.name, is_space_in_line);
    so_far.name_end = skip(std::max(so_far.name_end, so_far.name), is_word_character);
    so_far.operands = skip(std::max(so_far.operands, so_far.name_end), is_space_in_line);
    return code.substr(so_far.name, so_far.name_end - so_far.name);
  }

  // Returns whether a '<' begins the operands and no '>' has followed. Call after directive_name().
  bool is_within_angles() {
    const std::string_view code = line_of_->code;
    if (directive_.operands >= code.size() || code[directive_.operands] != '<') return false;
    std::size_t &close = directive_.close;
    close = std::min(code.find('>', std::max(close, directive_.operands)), code.size());
    return close == code.size();
  }

  // 1'000 is a number in C++, and don't may stand in #error or a skipped group: a compiler may or
  // may not see a literal, which must make no difference for the rest of the line.
  void check_apostrophe() {
    // A line may have many apostrophes: no byte is read twice.
    for (mark_ = std::max(mark_, at_); mark_ < text_.size(); ++mark_) {
      if (text_[mark_] == '\n') return;
      const bool begins_comment =
          text_[mark_] == '/' && mark_ + 1 < text_.size() && is_comment_mark(text_[mark_ + 1]);
      if (begins_comment || text_[mark_] == '"' || text_[mark_] == '\\') {
        return doubt("a quote behind a word");
      }
    }
  }

  // A literal that does not end is text in a skipped group, such as an apostrophe. R"(...)" is a
  // raw string in C++ for OpenCL.
  void literal(char quote) {
    if (quote == '"' && last_ == 'R') doubt("a raw string");
    if (quote == '\'' && (is_word_character(last_) || last_ == '$')) check_apostrophe();
    // Neither a character nor a file's name becomes a directive of an assembler.
    const bool is_name = quote == '\'' || (is_directive_ && names_file(directive_name()));
    bool has_comment = false, has_block = false;
    keep(1);
    while (!done() && line_end(0) == 0 && peek(0) != quote) {
      if (peek(0) == '/' && (peek(1) == '/' || peek(1) == '*')) {
        has_comment = true;
        has_block = has_block || peek(1) == '*';
      }
      if (peek(0) == '.' && !is_name) dot(true);
      if (peek(0) != '\\') {
        keep(1);
        continue;
      }
      if (quote == '"' && may_be_dot(peek(1)) && !is_skipped()) note_bare_dot(at_);
      const std::size_t behind = peek(1) == '\\' ? 2 : 1;  // a splice comes before an escape
      if (line_end(behind) > 0 || at_ + behind >= text_.size()) {
        doubt("a literal in two lines");
        return keep(1);
      }
      keep(2);
      last_ = '\\';
    }
    if (peek(0) != quote) {
      if (has_comment) doubt("a literal that does not end, with a comment");
      return;
    }
    // A string may hold a URL.
    if (has_block || (has_comment && quote == '\'')) doubt("a comment within a literal");
    keep(1);
  }

  // Notes a dot that an assembler may take for the beginning of a directive's name: one that is not
  // behind a word, and is neither of a number nor of "...", nor begins a name of PTX in a literal,
  // where no macro can replace it.
  void dot(bool in_literal) {
    const bool is_ellipsis = peek(1) == '.' && peek(2) == '.';
    const bool is_number = peek(1) >= '0' && peek(1) <= '9';
    const bool is_joined = is_word_character(last_) || last_ == ')' || last_ == ']';
    const bool is_name = in_literal && is_ptx_name();
    if (!is_ellipsis && !is_number && !is_joined && !is_name && !is_skipped()) note_bare_dot(at_);
    if (is_ellipsis) keep(2);
  }

  void note_bare_dot(std::size_t at) {
    if (!found_.has_bare_dot) found_.bare_dot_at = at;
    found_.has_bare_dot = true;
  }

  // Returns whether the dot begins such a name, which ends in the same literal: another literal
  // cannot make it longer.
  bool is_ptx_name() const {
    const std::string_view name = first_word(text_.substr(at_ + 1, kLongestPtxName + 1));
    const char next = peek(1 + name.size());
    return packs::is_among(name, kPtxNames) && (next == ' ' || next == '.');
  }

  // Returns whether a character behind a backslash may begin an escape that stands for a dot.
  static bool may_be_dot(char c) {
    return (c >= '0' && c <= '7') || c == 'x' || c == 'u' || c == 'U' || c == 'N' || c == 'o';
  }

  void doubt(const char *what, const char *cure = "") {
    if (!found_.doubt) found_.doubt = Doubt{std::min(at_, text_.size()), what, cure};
  }

  // An #if with its groups so far.
  struct Condition {
    bool is_within_skipped = false;
    bool was_taken = false;  // one of its groups certainly was
    bool skips = false;      // the group at hand
  };

  // Offsets in the code of the line at hand, which has a directive.
  struct DirectiveSoFar {
    std::size_t name = 1, name_end = 1, operands = 1;
    std::size_t close = 0;  // no '>' of the operands is before
  };

  std::string_view text_;
  const TakeWord &take_word_;
  ScannedText found_;
  std::vector<Condition> conditions_;  // around the line at hand
  DirectiveSoFar directive_;
  LogicalLine *line_of_ = nullptr;  // the line at hand
  std::size_t at_ = 0;
  std::size_t mark_ = 0;  // of check_apostrophe()
  std::size_t line_ = 1;
  bool is_directive_ = false;
  bool has_form_feed_ = false;
  char last_ = '\n';  // the byte before, without splices; a blank for a comment
};

std::string_view operand_word(const LogicalLine &line, const Directive &directive) {
  return first_word(std::string_view(line.code).substr(directive.operands));
}

}  // namespace

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::vector<std::string> kernels_in(std::string_view text) {
  std::vector<std::string> names;
  std::set<std::string_view> known;  // words of the text
  bool is_kernel = false;
  bool is_name = false;
  (void)scan(text, [&](std::string_view word) {
    if (is_name && known.insert(word).second) names.emplace_back(word);
    is_kernel = !is_name && (is_kernel || word == "kernel" || word == "__kernel");
    is_name = is_kernel && word == "void";
    is_kernel = is_kernel && !is_name;
  });
  return names;
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
  for (std::size_t at = 0; (at = text.find('\\', at)) != std::string_view::npos; ++at) {
    const std::size_t end = std::min(text.find_first_not_of(" \t\v\f", at + 1), text.size());
    const bool ends_line = end == text.size() || text[end] == '\n' || text[end] == '\r';
    if (end > at + 1 && ends_line) return Doubt{at, "blanks between a backslash and a line end"};
  }
  return std::nullopt;
}

ScannedText scan(std::string_view text, const TakeWord &take_word) {
  ScannedText scanned = Scanner(text, take_word).run();
  if (auto odd = odd_bytes(text)) scanned.doubt = std::move(odd);
  return scanned;
}

Directive directive_of(const LogicalLine &line) {
  const std::string &code = line.code;
  if (code.empty()) return {{}, 0, false};
  const auto skip_spaces = [&code](std::size_t at) {
    return std::min(code.find_first_not_of(kBlanks, at), code.size());
  };
  const std::size_t begin = skip_spaces(1);
  const std::string_view name = first_word(std::string_view(code).substr(begin));
  return {name, skip_spaces(begin + name.size()), true};
}

bool is_listed(const LogicalLine &line) {
  constexpr std::string_view kNames[] = {"if",     "ifdef", "ifndef", "elif",    "else",   "endif",
                                         "define", "undef", "error",  "warning", "include"};
  constexpr std::string_view kPragmas[] = {
      "OPENCL", "OPENCL_EXTENSION",     "unroll", "nounroll", "omp",
      "ivdep",  "promote_to_registers", "pack"};
  constexpr std::string_view kTheirs[] = {"unroll", "nounroll", "loop", "diagnostic", "ivdep"};
  const Directive directive = directive_of(line);
  if (!directive.is_one || packs::is_among(directive.name, kNames)) return true;
  std::string_view operands = trimmed(std::string_view(line.code).substr(directive.operands));
  if (directive.name.empty()) return operands.empty();
  if (directive.name != "pragma") return false;
  const std::string_view word = first_word(operands);
  operands = trimmed(operands.substr(word.size()));
  if (word == "once") return operands.empty();
  if (word == "GCC" || word == "clang") return packs::is_among(first_word(operands), kTheirs);
  return packs::is_among(word, kPragmas);
}

std::string_view include_guard(const std::vector<LogicalLine> &lines) {
  std::string_view macro;
  std::size_t directives = 0, depth = 0;
  bool closed = false;
  for (const LogicalLine &line : lines) {
    if (line.is_blank) continue;
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
