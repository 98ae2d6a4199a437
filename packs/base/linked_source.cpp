// SPDX-License-Identifier: Apache-2.0
// Writes and splits the text of a linked program.
#include "kiln/packs/linked_source.hpp"

#include "kiln/packs/text.hpp"

namespace kiln::packs {
namespace {

constexpr std::string_view kSource = "source ";
constexpr std::string_view kModule = "module ";

bool take(std::string_view *text, std::string_view word) {
  if (text->substr(0, word.size()) != word) return false;
  text->remove_prefix(word.size());
  return true;
}

// Takes a size without leading zeros, and the character behind it.
bool take_size(std::string_view *text, char end, std::size_t *size) {
  const std::string_view digits = text->substr(0, text->find(end));
  *size = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9' || *size > text->size()) return false;
    *size = *size * 10 + static_cast<std::size_t>(c - '0');
  }
  if (digits.size() == text->size() || digits != decimal(*size)) return false;
  text->remove_prefix(digits.size() + 1);
  return true;
}

// Takes so many bytes, and the line end behind them.
bool take_bytes(std::string_view *text, std::size_t size, std::string_view *bytes) {
  if (size >= text->size() || (*text)[size] != '\n') return false;
  *bytes = text->substr(0, size);
  text->remove_prefix(size + 1);
  return true;
}

bool take_part(std::string_view *text, LinkedPart *part) {
  std::size_t source = 0;
  std::size_t options = 0;
  part->is_il = take(text, kModule);
  return (part->is_il || take(text, kSource)) && take_size(text, ' ', &source) &&
         take_size(text, '\n', &options) && take_bytes(text, source, &part->source) &&
         take_bytes(text, options, &part->options);
}

}  // namespace

std::string linked_source(const std::vector<LinkedPart> &parts) {
  std::string text(kLinkedFirstLine);
  for (const LinkedPart &part : parts) {
    text += concat({part.is_il ? kModule : kSource, decimal(part.source.size()), " ",
                    decimal(part.options.size()), "\n", part.source, "\n", part.options, "\n"});
  }
  return text;
}

bool read_linked_source(std::string_view text, std::vector<LinkedPart> *parts) {
  if (!take(&text, kLinkedFirstLine)) return false;
  while (!text.empty()) {
    LinkedPart part;
    if (!take_part(&text, &part)) return false;
    parts->push_back(part);
  }
  return !parts->empty();
}

}  // namespace kiln::packs
