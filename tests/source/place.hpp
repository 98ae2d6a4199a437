// SPDX-License-Identifier: Apache-2.0
// Cases on a disk.
#pragma once

#include <filesystem>
#include <string>

#include "tests/source/case.hpp"

namespace kiln::cases {

// The text with the folder's absolute path for kHere.
std::string placed(std::string text, const std::filesystem::path &here);

// Does these entries in their order. What cannot be done, as a link to a file that was removed, is
// left out: the compiler and Kiln see the same disk.
void put_on_disk(const std::vector<Entry> &entries, const std::filesystem::path &here);

// Writes a case for a reader: before/, after/, source.cl, options, and about.txt with `about`.
void write_out(const Case &example, const std::filesystem::path &folder, const std::string &about);

}  // namespace kiln::cases
