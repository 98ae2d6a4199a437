// SPDX-License-Identifier: Apache-2.0
// Starts the program once more without address space randomisation, where Linux allows it.
#include "builder/cli/fixed_addresses.hpp"

#ifdef __linux__
#include <sys/personality.h>
#include <unistd.h>
#endif

namespace kiln::cli {

void restart_with_fixed_addresses(char **argv) {
#ifdef __linux__
  constexpr unsigned long kAsk = 0xffffffff;
  const int now = personality(kAsk);
  if (now == -1 || (now & ADDR_NO_RANDOMIZE) != 0) return;
  if (personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) == -1) return;
  const int then = personality(kAsk);
  if (then != -1 && (then & ADDR_NO_RANDOMIZE) != 0) execv("/proc/self/exe", argv);
  personality(static_cast<unsigned long>(now));
#else
  (void)argv;
#endif
}

}  // namespace kiln::cli
