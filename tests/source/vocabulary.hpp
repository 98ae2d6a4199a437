// SPDX-License-Identifier: Apache-2.0
// The words of wild cases, which vocabulary.py asked of compilers and drivers.
#pragma once

#include <string>
#include <vector>

#include "tests/source/random.hpp"

namespace kiln::cases {

// A section of vocabulary.txt; empty if the file has no such section.
const std::vector<std::string> &words(const std::string &section);

// A character of any Unicode class, in UTF-8, or a byte of any value. All groups of classes are
// equally likely, and half of the characters are the first ones of their class, mostly ASCII.
std::string some_character(Random &random);

// A character of a class that some compiler may take in an identifier: letters, marks, numbers,
// connectors, currency signs and format characters.
std::string some_identifier_character(Random &random);

}  // namespace kiln::cases
