// SPDX-License-Identifier: Apache-2.0
// A scanner for preprocessed OpenCL C, which has neither comments nor line splices.
#include "builder/compile/same_tokens.hpp"

#include <algorithm>
#include <charconv>

namespace kiln::builder {
namespace {

// Punctuators of more than one character, the longest first.
constexpr std::string_view kPunctuators[] = {"%:%:", "...", "<<=", ">>=", "->*", "##", "->", "++",
                                             "--",   "<<",  ">>",  "<=",  ">=",  "==", "!=", "&&",
                                             "||",   "*=",  "/=",  "%=",  "+=",  "-=", "&=", "^=",
                                             "|=",   "::",  ".*",  "<:",  ":>",  "<%", "%>", "%:"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Letters beyond ASCII are bytes of 128 and more.
bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::size_t literal_size(std::string_view text) {
  std::size_t at = 1;
  while (at < text.size() && text[at] != text[0] && text[at] != '\n') {
    at += text[at] == '\\' && at + 1 < text.size() ? 2 : 1;
  }
  return std::min(at + 1, text.size());
}

std::size_t number_size(std::string_view text) {
  std::size_t at = 1;
  for (; at < text.size(); ++at) {
    const bool is_sign = text[at] == '+' || text[at] == '-';
    const bool of_exponent =
        is_sign && std::string_view("eEpP").find(text[at - 1]) != std::string_view::npos;
    if (!is_word_character(text[at]) && text[at] != '.' && !of_exponent) break;
  }
  return at;
}

}  // namespace

std::string PlacedToken::place() const {
  std::string path;
  for (std::size_t i = 0; i < file.size(); ++i) {
    if (file[i] == '\\' && i + 1 < file.size()) ++i;
    path += file[i];
  }
  return path + ":" + std::to_string(line);
}

// Skips a line marker, or an include directive that -dI shows: clang writes no other `# `,
// `#include`, `#include_next` and `#import` at the start of a line.
bool TokenReader::skip_directive() {
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  const std::string_view whole = text_.substr(at_, end - at_);
  if (whole.size() > 2 && whole[1] == ' ' && is_digit(whole[2])) {
    const auto number = std::from_chars(whole.data() + 2, whole.data() + whole.size(), place_.line);
    const std::size_t quote = whole.find('"', static_cast<std::size_t>(number.ptr - whole.data()));
    if (quote != std::string_view::npos) {
      const std::size_t size = literal_size(whole.substr(quote));
      place_.file = whole.substr(quote + 1, size - 2);
    }
    at_ = std::min(end + 1, text_.size());  // the number belongs to the next line
    return true;
  }
  if (!whole.starts_with("#include") && !whole.starts_with("#import")) return false;
  PlacedToken include = place_;
  const std::size_t name = std::min(whole.find(' '), whole.size());
  include.text = whole.substr(name, whole.find(" /* clang") - name);
  while (include.text.starts_with(' ')) include.text.remove_prefix(1);
  includes_.push_back(include);
  at_ = end;
  return true;
}

std::size_t TokenReader::token_size() const {
  const std::string_view rest = text_.substr(at_);
  const char c = rest[0];
  const bool is_number = is_digit(c) || (c == '.' && rest.size() > 1 && is_digit(rest[1]));
  if (is_number) return number_size(rest);
  if (is_word_character(c)) {
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_word_character);
    return static_cast<std::size_t>(end - rest.begin());
  }
  if (c == '"' || c == '\'') return literal_size(rest);
  for (const std::string_view punctuator : kPunctuators) {
    if (rest.starts_with(punctuator)) return punctuator.size();
  }
  return 1;
}

PlacedToken TokenReader::next() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#' && is_line_start_ && skip_directive()) continue;
    PlacedToken token = place_;
    if (c == '\n') {
      token.text = text_.substr(at_++, 1);
      ++place_.line;
      is_line_start_ = true;
      if (!in_pragma_) continue;
      in_pragma_ = false;
      return token;
    }
    in_pragma_ = in_pragma_ || (is_line_start_ && text_.substr(at_).starts_with("#pragma"));
    is_line_start_ = false;
    if (is_space(c)) {
      ++at_;
      continue;
    }
    token.text = text_.substr(at_, token_size());
    at_ += token.text.size();
    return token;
  }
  return place_;
}

std::optional<TokenDifference> first_difference(TokenReader *one, TokenReader *other) {
  for (;;) {
    const TokenDifference both{one->next(), other->next()};
    if (both.one.text != both.other.text) return both;
    if (both.one.text.empty()) return std::nullopt;
  }
}

}  // namespace kiln::builder
