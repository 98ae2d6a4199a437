// SPDX-License-Identifier: Apache-2.0
// kiln: one executable, with the list of its subcommands.
#include <string>
#include <string_view>
#include <vector>

#include <sodium.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/personality.h>
#endif

#include "builder/base/this_process.hpp"
#include "builder/cli/shared/parse.hpp"
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
  add_group(app, "pack", "Inspect, verify, compare, merge, slice and sign packs",
            {add_inspect, add_verify, add_merge, add_slice, add_diff, add_sign}, command);
}

constexpr char kFleet[] = "fleet";
constexpr char kFleetProgram[] = "kiln-fleet";  // beside this program

void add_fleet(CLI::App &app, kiln::cli::Command *command) {
  CLI::App *sub = app.add_subcommand(
      kFleet, "Deliver packs to devices, keep them up to date, and show what they load");
  sub->prefix_command();
  sub->callback([=] {
    *command = [] {
      kiln::cli::complain(std::string(kFleetProgram) +
                          " is not beside kiln: install the package of that name");
      return kiln::cli::kNoDevice;
    };
  });
}

// Becomes kiln-fleet, if it is there.
void become_fleet(int argc, char **argv, int after) {
  const std::string program = kiln::builder::executable_folder() / kFleetProgram;
  std::vector<char *> words{argv[0]};
  words.insert(words.end(), argv + 1, argv + after - 1);  // "help"
  words.insert(words.end(), argv + after, argv + argc + 1);
  execv(program.c_str(), words.data());
}

}  // namespace

int main(int argc, char **argv) {
  using namespace kiln::cli;
  const std::string_view name = argc > 1 ? argv[1] : "";
  const bool answers = name == kiln::builder::kAnswerJobs && argc == 3;
  if (name == kFleet) become_fleet(argc, argv, 2);
  if (name == "help" && argc > 2 && std::string_view(argv[2]) == kFleet) {
    become_fleet(argc, argv, 3);
  }
  if (name == "build" || answers) restart_with_fixed_addresses(argv);
  [[maybe_unused]] const int chosen = sodium_init();  // the processor's fastest hash function
  if (answers) return kiln::builder::answer_posed_jobs(argv[2]);
  kiln::builder::prepare_signals();
  return run_command_line(
      "kiln",
      "Compiles OpenCL kernels once for each kind of device, with its driver, and packs the "
      "result.",
      {add_devices, add_compile, add_build, add_pack, add_stubs, add_tune, add_run, add_explain,
       add_bisect, add_try, add_record, add_serve, add_report, add_doctor, add_overlay,
       add_provision, add_fleet},
      argc, argv);
}
