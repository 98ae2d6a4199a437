// SPDX-License-Identifier: Apache-2.0
// Makes texts of packs and drivers safe to print: they cannot move a terminal's cursor, hide other
// text or look like a line of Kiln's.
#pragma once

#include <string>
#include <string_view>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Escapes control characters except newline and tab (including U+0080 to U+009F), characters that
// set the direction of text, and bytes that are not UTF-8 as "\xNN" or "\uNNNN". All other text
// stays.
std::string printable(std::string_view text);
// Also escapes newlines and tabs, for names.
std::string printable_line(std::string_view text);

// Returns the contents with names and other texts as from printable_line(); keys and hashes stay,
// because things are found by them. For display, not for writing.
packs::Contents printable_contents(packs::Contents contents);

}  // namespace kiln::builder
