// SPDX-License-Identifier: Apache-2.0
// kiln-bench build: what a build costs, beside what it should.
#include <fmt/format.h>

#include "builder/bench/build_times.hpp"
#include "builder/bench/cli.hpp"

namespace kiln::cli {
namespace {

struct BuildBenchArguments {
  std::string pack;
  std::string selector;
  builder::BuildTimes times;
  bool json = false;
};

int run_build(const BuildBenchArguments &options) {
  const auto pack = open_pack(options.pack);
  if (!pack.ok()) return fail(pack.status());
  const auto devices = find_devices(options.selector);
  if (!devices.ok()) return fail(devices.status());
  builder::Figures all;
  for (const builder::DeviceInfo &device : *devices) {
    const auto figures = builder::measure_build(pack->contents, device, options.times);
    if (!figures.ok()) return fail(figures.status());
    all.insert(all.end(), figures->begin(), figures->end());
  }
  if (options.json) {
    print(nlohmann::json{{"schema", 1}, {"figures", builder::to_json(all)}});
  } else {
    print(builder::figures_text(all));
  }
  return kDone;
}

}  // namespace

void add_build_times(CLI::App &app, Command *command) {
  auto options = std::make_shared<BuildBenchArguments>();
  CLI::App *sub = app.add_subcommand(
      "build", "What a build costs beside one bare process that compiles the same, store aside");
  sub->add_option("--pack", options->pack, "Pack whose sources are compiled")->required();
  add_device_option(*sub, &options->selector);
  sub->add_option("--rounds", options->times.rounds, "Builds of each kind, in turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  sub->add_flag("--finish", options->times.finish,
                "Finish the binaries, too; the bare process does so by compiling or launching");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_build(*options); }; });
}

}  // namespace kiln::cli
