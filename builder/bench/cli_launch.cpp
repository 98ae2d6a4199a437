// SPDX-License-Identifier: Apache-2.0
// kiln-bench launch: what a launch costs the processor.
#include <fmt/format.h>

#include "builder/bench/cli.hpp"
#include "builder/bench/launch_overhead.hpp"

namespace kiln::cli {
namespace {

struct LaunchArguments : DeviceOptions {
  std::size_t rounds = 100;
};

std::string row_text(const builder::LaunchRow &row) {
  if (!row.status.ok()) {
    return fmt::format("{}\n  no figures: {}\n", row.device, row.status.message);
  }
  return fmt::format("{}: {}/{}\n  {:8.0f} {:8.0f} {:+8.0f} {:8.2f} {:10.0f}  {}\n", row.device,
                     row.program, row.variant, row.bare, row.kiln, row.above_bare(), row.ratio(),
                     row.sequence, row.recording);
}

int run(const LaunchArguments &options) {
  const auto open = open_on_devices(options);
  if (!open.ok()) return fail(open.status());
  builder::LaunchBenchOptions launch;
  launch.pack_path = options.pack;
  launch.program = options.program;
  launch.rounds = options.rounds;
  nlohmann::json rows = nlohmann::json::array();
  if (!options.json) {
    print(
        fmt::format("medians of {} rounds of {} launches, nanoseconds until the call returns, "
                    "for each\n  {:>8} {:>8} {:>8} {:>8} {:>10}  recording\n",
                    launch.rounds, launch.launches, "bare", "kiln", "more", "ratio", "sequence"));
  }
  int exit_code = kDone;
  for (const builder::DeviceInfo &device : open->devices) {
    const builder::LaunchRow row = builder::bench_launch(device, launch);
    if (!row.status.ok()) exit_code = kSomeFailed;
    if (!options.json) print(row_text(row));
    rows.push_back(builder::to_json(row));
  }
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"rounds", launch.rounds},
                         {"launches", launch.launches},
                         {"devices", rows}});
  }
  return exit_code;
}

}  // namespace

void add_launch(CLI::App &app, Command *command) {
  auto options = std::make_shared<LaunchArguments>();
  CLI::App *sub = app.add_subcommand(
      "launch", "What a launch costs the processor: the bare call, through Kiln, in a sequence");
  add_device_options(*sub, options.get(), "Pack with a program that has arguments",
                     "This program; default: the first that the device can run");
  sub->add_option("--rounds", options->rounds, "Rounds of each kind")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
