// SPDX-License-Identifier: Apache-2.0
// kiln-fleet, which `kiln fleet` starts: the commands for people who operate devices.
#include <sodium.h>

#include "builder/cli/shared/parse.hpp"
#include "builder/process/foreground.hpp"

int main(int argc, char **argv) {
  using namespace kiln::cli;
  [[maybe_unused]] const int chosen = sodium_init();  // the processor's fastest hash function
  kiln::builder::prepare_signals();
  return run_command_line(
      "kiln fleet", "Deliver packs to devices, keep them up to date, and show what they load",
      {add_publish, add_fetch, add_watch, add_delta, add_fleet_report}, argc, argv);
}
