// SPDX-License-Identifier: Apache-2.0
// kiln-bench: what Kiln's own kernels do on a device, and what was published of them.
#include "builder/bench/cli.hpp"
#include "builder/cli/parse.hpp"

const char *const kiln::cli::kToolName = "kiln-bench";

int main(int argc, char **argv) {
  using namespace kiln::cli;
  CLI::App app{"Measures kernels and launches; `kiln bench startup` measures starts."};
  app.name(kToolName);
  app.set_version_flag("--version", "kiln-bench " KILN_VERSION_TEXT);
  app.require_subcommand(1);
  app.footer(kExitCodes);
  Command command;
  add_kernels(app, &command);
  add_launch(app, &command);
  return run_command_line(app, command, argc, argv);
}
