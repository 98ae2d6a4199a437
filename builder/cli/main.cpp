// SPDX-License-Identifier: Apache-2.0
// kiln: one executable, with the list of its subcommands.
#include <string_view>

#include <sodium.h>

#ifdef __linux__
#include <sys/personality.h>
#include <unistd.h>
#endif

#include "builder/cli/parse.hpp"
#include "builder/jobs/posed_jobs.hpp"
#include "builder/machine/virtual_device.hpp"
#include "builder/process/foreground.hpp"

namespace {

// Restarts this program without address randomisation, if that is on. A driver's compiler may order
// by address (that of Intel's NEO 20.44 does), and the same inputs must give the same pack. Returns
// if randomisation is off or cannot be switched off.
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

void add_group(CLI::App &app, const char *name, const char *text,
               std::initializer_list<kiln::cli::AddCommand> commands, kiln::cli::Command *command) {
  CLI::App *group = app.add_subcommand(name, text);
  group->require_subcommand(1);
  for (const kiln::cli::AddCommand add : commands) add(*group, command);
}

void add_pack(CLI::App &app, kiln::cli::Command *command) {
  using namespace kiln::cli;
  add_group(app, "pack", "Inspect, check, combine, split and sign packs",
            {add_inspect, add_verify, add_merge, add_slice, add_diff, add_sign}, command);
}

void add_fleet(CLI::App &app, kiln::cli::Command *command) {
  using namespace kiln::cli;
  add_group(app, "fleet", "Deliver packs to devices, keep them up to date, and show what they load",
            {add_publish, add_fetch, add_watch, add_delta, add_fleet_report}, command);
}

}  // namespace

int main(int argc, char **argv) {
  using namespace kiln::cli;
  const std::string_view name = argc > 1 ? argv[1] : "";
  const bool is_watch = name == "fleet" && argc > 2 && std::string_view(argv[2]) == "watch";
  const bool answers = name == kiln::builder::kAnswerJobs && argc == 3;
  if (name == "build" || is_watch || answers) restart_with_fixed_addresses(argv);
  [[maybe_unused]] const int chosen = sodium_init();  // the processor's fastest hash function
  if (answers) return kiln::builder::answer_posed_jobs(argv[2]);
  kiln::builder::prepare_signals();
  return run_command_line(
      "Compiles OpenCL kernels once for each kind of device, with its driver, and packs the "
      "result.",
      {add_devices, add_compile, add_build, add_pack, add_stubs, add_tune, add_run, add_explain,
       add_try, add_record, add_serve, add_report, add_doctor, add_overlay, add_provision,
       add_fleet},
      argc, argv);
}
