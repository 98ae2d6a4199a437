// SPDX-License-Identifier: Apache-2.0
// Work on text that is compiled once, where code size counts: `a + b + c` and a sort are each
// many times the code of a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::packs {

// The parts in one string.
std::string concat(std::initializer_list<std::string_view> parts);

std::string decimal(std::uint64_t value);

// Lower-case hexadecimal: two digits for each byte, or the 16 digits of a number.
std::string hex(const void *bytes, std::size_t count);
std::string hex64(std::uint64_t value);

// The lower-case letter of an ASCII letter, any other character as it is. The C library's tolower
// follows the locale.
inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Compares the numbers in two versions one after the other, "580.9" before "580.65.06"; the
// text between numbers does not count. Negative, zero or positive.
int compare_versions(std::string_view a, std::string_view b);

// By bytes.
void sort_names(std::vector<std::string_view> *names);

}  // namespace kiln::packs
