// SPDX-License-Identifier: Apache-2.0
// Makes a text smaller as long as something still shows in it. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace kiln::builder {

// Returns whether what is looked for still shows; false to leave a part where it is.
using Shows = std::function<bool(const std::vector<std::string> &parts)>;

// Returns the parts that are left when no single one can be taken away: first halves, then ever
// smaller runs (Zeller's ddmin). Asks at most `most` times.
std::vector<std::string> reduce_parts(std::vector<std::string> parts, std::size_t most,
                                      const Shows &shows);

// Takes whole blocks away, from the line that opens one to the line that closes it, and then these
// two lines alone; of lines of statement_lines().
std::vector<std::string> reduce_blocks(std::vector<std::string> lines, const Shows &shows);

// Returns the lines of a C text, with a line for each statement and each brace. A preprocessor line
// stays whole, with its continuations.
std::vector<std::string> statement_lines(const std::string &text);

// Whether braces, brackets and parentheses outside of strings are closed in their order, and each
// #if has its #endif: no compiler need be asked about other texts.
bool is_balanced(const std::vector<std::string> &lines);

std::string joined_lines(const std::vector<std::string> &lines);

}  // namespace kiln::builder
