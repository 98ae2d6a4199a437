// SPDX-License-Identifier: Apache-2.0
// kiln-bench: what Kiln's own kernels do on a device, and what was published of them.
#include "builder/bench/cli.hpp"
#include "builder/cli/parse.hpp"

const char *const kiln::cli::kToolName = "kiln-bench";

int main(int argc, char **argv) {
  using namespace kiln::cli;
  return run_command_line("Measures kernels and launches; `kiln bench startup` measures starts.",
                          {add_kernels, add_launch}, argc, argv);
}
