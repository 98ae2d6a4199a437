// SPDX-License-Identifier: Apache-2.0
// kiln bench: what a start costs.
#include <fmt/format.h>

#include "builder/cli/common_options.hpp"
#include "builder/startup/startup.hpp"

namespace kiln::cli {
namespace {

struct BenchArguments {
  builder::StartupOptions startup;
  std::string selector;
  bool json = false;
};

std::string row_text(const builder::StartupRow &row) {
  if (!row.status.ok()) {
    return fmt::format("{}\n  no figures: {}\n", row.device, row.status.message);
  }
  const auto line = [&](const char *until, double builder::StartupTime::*time) {
    return fmt::format("  {:12} {:9.3f} {:9.3f} {:9.3f} {:9.3f} {:9.3f}\n", until, row.source.*time,
                       row.driver.*time, row.floor.*time, row.kiln.*time, row.overlay.*time);
  };
  std::string text = fmt::format("{}: {}\n", row.device, count(row.programs, "program"));
  text += line("to kernels", &builder::StartupTime::kernels);
  if (row.executes) {
    text += line("to results", &builder::StartupTime::results);
  } else if (!row.launches) {
    text += "  no launch of its programs is known: what counts is the time to the kernels\n";
  } else {
    text += "  it executes nothing here: what counts is the time to the kernels\n";
  }
  text += fmt::format(
      "  kiln {:.2f} and overlay {:.2f} times the floor, {:.1f} us a program above it\n",
      row.ratio(row.kiln), row.ratio(row.overlay), row.microseconds_above_floor());
  for (const builder::FirstResult &f : row.firsts) {
    if (!f.compiles) continue;
    text += fmt::format("  {}/{} compiles at its first launch: {:.3f} ms, the second {:.3f} ms\n",
                        f.program, f.variant, f.first, f.second);
  }
  if (const std::size_t compiling = row.overlay_compiling.value_or(0); compiling > 0) {
    text += fmt::format("  of the overlay's second start {} compile at the first launch\n",
                        count(compiling, "program"));
  }
  return text;
}

int run_startup(const BenchArguments &options) {
  const builder::StartupOptions &startup = options.startup;
  const auto pack = open_pack(startup.pack_path);
  if (!pack.ok()) return fail(pack.status());
  const auto devices = find_devices(options.selector);
  if (!devices.ok()) return fail(devices.status());
  nlohmann::json rows = nlohmann::json::array();
  if (!options.json) {
    print(
        fmt::format("medians of {} rounds of fresh processes, milliseconds\n  {:12} {:>9} {:>9} "
                    "{:>9} {:>9} {:>9}\n",
                    startup.rounds, "", "source", "driver", "floor", "kiln", "overlay"));
  }
  int exit_code = kDone;
  for (const builder::DeviceInfo &device : *devices) {
    const builder::StartupRow row = builder::bench_startup(
        pack->contents, device, startup, [&](std::size_t done, std::size_t all) {
          progress("measuring " + device.label(), done, all);
        });
    end_progress();
    if (!row.status.ok()) exit_code = kSomeFailed;
    if (!options.json) print(row_text(row));
    rows.push_back(builder::to_json(row));
  }
  if (options.json) {
    print(nlohmann::json{{"schema", 2}, {"rounds", startup.rounds}, {"devices", rows}});
  }
  return exit_code;
}

}  // namespace

void add_bench(CLI::App &app, Command *command) {
  auto options = std::make_shared<BenchArguments>();
  CLI::App *bench = app.add_subcommand("bench", "Measure startup");
  bench->require_subcommand(1);
  CLI::App *sub = bench->add_subcommand(
      "startup",
      "Time until the first results: from source, the driver's own binaries, a pack's binaries in "
      "memory (the floor), the pack, and, without a binary, the second run (overlay)");
  add_pack_option(*sub, &options->startup.pack_path, "Pack with binaries for the devices");
  add_device_option(*sub, &options->selector);
  add_program_option(*sub, &options->startup.program);
  sub->add_option("--rounds", options->startup.rounds,
                  "Processes of each kind; half as many if one takes over a second")
      ->check(CLI::Range(1, 100000).description(""))
      ->type_name("N")
      ->capture_default_str();
  add_timeout_option(*sub, &options->startup.timeout, "Seconds that one process may take");
  add_json_flag(*sub, &options->json, 2);
  sub->callback([=] { *command = [=] { return run_startup(*options); }; });
}

}  // namespace kiln::cli
