// SPDX-License-Identifier: Apache-2.0
#include "runtime/layer/program_name.hpp"

#include "kiln/packs/contents.hpp"

namespace kiln::layer {
namespace {

constexpr std::size_t kDigits = 32;
constexpr std::string_view kWords[] = {
    "include",       "include_next",       "import",      "embed",    "imacros",
    "__has_include", "__has_include_next", "__has_embed", "__DATE__", "__TIME__",
    "__TIMESTAMP__"};

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    if (begins && (end == text.size() || !is_word_character(text[end]))) return true;
  }
  return false;
}

// Without the ends of lines that a backslash continues, which may be within a word.
std::string joined_lines(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (const char c : text) {
    if (c == '\r') continue;
    if (c == '\n' && !joined.empty() && joined.back() == '\\') {
      joined.pop_back();
    } else {
      joined.push_back(c);
    }
  }
  return joined;
}

}  // namespace

std::string program_name(std::string_view source, std::string_view options) {
  const std::uint64_t size = source.size();
  packs::Bytes text;
  text.reserve(sizeof(size) + source.size() + options.size());
  for (unsigned i = 0; i < sizeof(size); ++i) {
    text.push_back(static_cast<std::uint8_t>(size >> (8 * i)));
  }
  text.insert(text.end(), source.begin(), source.end());
  text.insert(text.end(), options.begin(), options.end());
  return "cl-" + packs::hex(packs::blake2b({text.data(), text.size()})).substr(0, kDigits);
}

bool depends_on_more(std::string_view text) {
  const std::string joined = joined_lines(text);
  for (const std::string_view word : kWords) {
    if (has_word(joined, word)) return true;
  }
  return false;
}

}  // namespace kiln::layer
