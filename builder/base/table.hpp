// SPDX-License-Identifier: Apache-2.0
// Columns of text, for every command that prints some. Pure.
#pragma once

#include <string>
#include <string_view>

namespace kiln::builder {

// Aligns the columns of lines whose cells are separated by tabs. Columns are as wide as their
// widest cells, with two blanks between them; a wide character counts as one. A '>' in `sides`
// aligns the column of its place at the right; all other columns are aligned at the left. The last
// cell of a line that has fewer cells than the longest line stays as it is, for sentences and whole
// lines.
std::string table_text(const std::string &text, std::string_view sides = "");

}  // namespace kiln::builder
