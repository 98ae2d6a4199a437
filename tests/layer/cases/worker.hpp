// SPDX-License-Identifier: Apache-2.0
// The application under test.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::cases {

constexpr int kNoDevice = 77;

// Reads sequences, a line each (line_of()), makes their calls with the texts of the block, and
// writes a line for each: all that was answered. Returns the exit code.
int work(const std::string &driver, std::uint64_t block);

}  // namespace kiln::cases
