// SPDX-License-Identifier: Apache-2.0
// Names of recorded programs. Pure.
#pragma once

#include <string>
#include <string_view>

namespace kiln::layer {

// "cl-" and 32 hexadecimal digits: of the source and the options, byte for byte. What a driver
// makes of them depends on nothing else, unless depends_on_more().
std::string program_name(std::string_view source, std::string_view options);

// Whether files or the time, which the name does not cover, may be part of the program: the text,
// source or options, has one of the words by which a compiler takes them, if only in a comment.
bool depends_on_more(std::string_view text);

}  // namespace kiln::layer
