// SPDX-License-Identifier: Apache-2.0
// Catch2, whichever of its major versions is installed, and the skipping of tests.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as Catch2 2 has it
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace kiln::test {

inline constexpr int kExitSkipped = 77;  // what ctest reads as "Skipped"

// Whether a sanitizer of GCC has memory and an allocator of its own in this process.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Says why something could not run. The executable then exits with 77, unless anything failed:
// a failure is never hidden behind a skip, nor a skip behind what else passed.
void record_skip(const std::string &reason);

// The same where nothing can run without it: ends the process here, with 77 or, if something
// failed before, with 1.
[[noreturn]] void skip_all(const std::string &reason);

// How many assertions have failed.
unsigned failures();

inline bool mentions(const std::string &text, const std::string &word) {
  return text.find(word) != std::string::npos;
}

}  // namespace kiln::test

// Ends a test case, or the section that it is in, for that reason.
#define KILN_SKIP(reason)              \
  do {                                 \
    ::kiln::test::record_skip(reason); \
    return;                            \
  } while (false)
