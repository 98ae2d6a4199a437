// SPDX-License-Identifier: Apache-2.0
// kiln: one executable, one file a subcommand.
#include <string_view>

#include "builder/cli/fixed_addresses.hpp"
#include "builder/cli/parse.hpp"

const char *const kiln::cli::kToolName = "kiln";

int main(int argc, char **argv) {
  using namespace kiln::cli;
  if (argc > 1 && std::string_view(argv[1]) == "build") restart_with_fixed_addresses(argv);
  return run_command_line(
      "Compiles OpenCL kernels where they will run, once, and ships the result.",
      {add_devices,   add_compile, add_plan,    add_build,   add_crosscheck, add_tune,
       add_provision, add_warm,    add_merge,   add_slice,   add_prune,      add_overlay,
       add_store,     add_inspect, add_extract, add_verify,  add_diff,       add_delta,
       add_apply,     add_publish, add_fetch,   add_sign,    add_explain,    add_run,
       add_record,    add_serve,   add_export,  add_harvest, add_bench},
      argc, argv);
}
