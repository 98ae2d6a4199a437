// SPDX-License-Identifier: Apache-2.0
// A program that is linked of several, as one text (packs/FORMAT.md, "Linked programs"). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::packs {

// A program that is compiled, or linked to a library, before the link.
struct LinkedPart {
  std::string_view source;  // or a SPIR-V module's bytes, or itself a text of linked_source()
  std::string_view options;
  bool is_il = false;
};

// Returns the text of a link of these parts, in this order. No compiler takes it: it begins with
// #error.
std::string linked_source(const std::vector<LinkedPart> &parts);

inline constexpr std::string_view kLinkedFirstLine = "#error this program is linked of several\n";

// Returns whether the text begins as those of linked_source() do.
inline bool is_linked_source(std::string_view text) {
  return text.substr(0, kLinkedFirstLine.size()) == kLinkedFirstLine;
}

// Splits such a text; the parts point into it. Returns false if the text is damaged or has no part.
bool read_linked_source(std::string_view text, std::vector<LinkedPart> *parts);

}  // namespace kiln::packs
