// SPDX-License-Identifier: Apache-2.0
// Texts of packs and drivers as a terminal can show them: nothing in them moves the cursor, hides
// another text or looks like a line of Kiln's.
#pragma once

#include <string>
#include <string_view>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Control characters but newline and tab, also those of U+0080 to U+009F, what sets the direction
// of text, and bytes that are no UTF-8 become "\xNN" or "\uNNNN". All other text stays.
std::string printable(std::string_view text);
// Newlines and tabs, too: for names.
std::string printable_line(std::string_view text);

// The same contents with all names and other texts as printable_line() gives them, but for what
// things are found by: keys and hashes. To be shown, not written.
packs::Contents printable_contents(packs::Contents contents);

}  // namespace kiln::builder
