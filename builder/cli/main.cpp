// SPDX-License-Identifier: Apache-2.0
// kiln: one executable, one file a subcommand.
#include <string_view>

#include "builder/cli/fixed_addresses.hpp"
#include "builder/cli/parse.hpp"

const char *const kiln::cli::kToolName = "kiln";

int main(int argc, char **argv) {
  using namespace kiln::cli;
  if (argc > 1 && std::string_view(argv[1]) == "build") restart_with_fixed_addresses(argv);
  CLI::App app{"Compiles OpenCL kernels where they will run, once, and ships the result."};
  app.name(kToolName);
  app.set_version_flag("--version", "kiln " KILN_VERSION_TEXT);
  app.require_subcommand(1);
  app.footer(kExitCodes);
  Command command;
  add_devices(app, &command);
  add_compile(app, &command);
  add_plan(app, &command);
  add_build(app, &command);
  add_crosscheck(app, &command);
  add_tune(app, &command);
  add_provision(app, &command);
  add_warm(app, &command);
  add_merge(app, &command);
  add_overlay(app, &command);
  add_inspect(app, &command);
  add_extract(app, &command);
  add_verify(app, &command);
  add_explain(app, &command);
  add_run(app, &command);
  add_bench(app, &command);
  return run_command_line(app, command, argc, argv);
}
