// SPDX-License-Identifier: Apache-2.0
// Splits options into words, and finds macros and folders of headers among them.
#include "runtime/source/build_options.hpp"

namespace kiln::source {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// An option with its operand, which may be the next word.
struct WithOperand {
  std::string operand;
  std::size_t end = 0;  // behind it
};

std::optional<WithOperand> operand_of(const std::vector<OptionWord> &words, std::size_t *at) {
  const OptionWord &word = words[*at];
  if (word.text.size() > 2) return WithOperand{word.text.substr(2), word.end};
  if (++*at == words.size()) return std::nullopt;
  return WithOperand{words[*at].text, words[*at].end};
}

}  // namespace

std::optional<std::vector<OptionWord>> option_words(std::string_view options) {
  std::vector<OptionWord> words;
  bool in_word = false, is_quoted = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const char c = options[i];
    if (is_space(c) && !is_quoted) {
      in_word = false;
      continue;
    }
    if (!in_word) words.push_back({"", i, i});
    in_word = true;
    if (c == '"') {
      is_quoted = !is_quoted;
    } else {
      words.back().text += c;
    }
    words.back().end = i + 1;
  }
  if (is_quoted) return std::nullopt;
  return words;
}

std::optional<IncludeOptions> include_options(std::string_view options) {
  const auto words = option_words(options);
  if (!words) return std::nullopt;
  IncludeOptions found;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::size_t begin = (*words)[i].begin;
    const std::string_view text = (*words)[i].text;
    const bool is_folder = text.substr(0, 2) == "-I";
    if (!is_folder && text.substr(0, 2) != "-D") continue;
    auto option = operand_of(*words, &i);
    if (!option) return std::nullopt;
    if (!is_folder) {
      found.definitions.push_back(std::move(option->operand));
      continue;
    }
    found.folders.emplace_back(std::move(option->operand));
    found.others += options.substr(copied, begin - copied);
    copied = option->end;
    while (copied < options.size() && is_space(options[copied])) ++copied;
  }
  found.others += options.substr(copied);
  return found;
}

}  // namespace kiln::source
