// SPDX-License-Identifier: Apache-2.0
// How the test drivers die of SIGSEGV.
#pragma once

namespace kiln::test {

// Not by raise(), which a real driver's handler may swallow; and not seen by the
// undefined-behaviour sanitizer, which would make an exit of it.
__attribute__((noinline, no_sanitize("undefined"))) inline void write_to_nowhere() {
  static int *volatile nowhere = nullptr;
  *nowhere = 0;
}

}  // namespace kiln::test
