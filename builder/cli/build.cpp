// kiln build: the on-device build.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "common.hpp"
#include "cpus.hpp"
#include "device_build.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t kMostJobs = 256;  // each holds two descriptors

struct Options {
  std::string input;
  std::string selector;
  std::string output;
  HostTools tools;
  double timeout_seconds = 120;
  std::optional<std::size_t> jobs;  // that run beside each other; none: one for each CPU
  bool fresh = false;
  packs::WriteOptions write;
  bool json = false;
};

// The pack that stands at the output's place; empty where there is no file. Complains and gives
// nothing for any other file: it may hold what cannot be made again.
std::optional<packs::Contents> earlier_contents(const Options &options) {
  if (options.fresh || !std::filesystem::exists(options.output)) return packs::Contents{};
  auto open = open_pack(options.output);
  if (open) return std::move(open->contents);
  complain("it is not replaced; give another output, or --fresh");
  return std::nullopt;
}

void summarise(const Options &options, const builder::BuildResult &result) {
  if (!options.json) {
    print(
        fmt::format("{}: {}; binaries: {} compiled, {} reused, {} not for the device, "
                    "{} failed\n",
                    options.output, count(result.contents.targets.size(), "target"),
                    result.compiled, result.reused, result.skipped, result.failures.size()));
    return;
  }
  nlohmann::json failures = nlohmann::json::array();
  for (const builder::JobFailure &failure : result.failures) {
    failures.push_back({{"job", failure.job}, {"error", failure.text}});
  }
  print(nlohmann::json{{"schema", 1},
                       {"output", options.output},
                       {"targets", result.contents.targets.size()},
                       {"compiled", result.compiled},
                       {"reused", result.reused},
                       {"skipped", result.skipped},
                       {"failures", failures}});
}

int run(const Options &options) {
  int exit_code =
      check_output(options.output, is_manifest(options.input) ? std::vector{options.input}
                                                              : std::vector<std::string>{});
  if (exit_code != kDone) return exit_code;
  const auto earlier = earlier_contents(options);
  if (!earlier) return kBadPack;
  std::vector<builder::VariantFailure> host_failures;
  const auto base = read_input(options.input, options.tools, &exit_code, &host_failures);
  if (!base) return exit_code;
  const auto devices = find_devices(options.selector);
  if (!devices) return kNoDevice;
  builder::BuildOptions build;
  build.timeout = std::chrono::milliseconds(static_cast<long>(options.timeout_seconds * 1000));
  build.jobs = options.jobs.value_or(std::min(builder::usable_cpus(), kMostJobs));
  builder::BuildResult result = builder::build_on_devices(
      *base, *devices, earlier->targets, build,
      [](const std::string &job, std::size_t done, std::size_t all) { progress(job, done, all); });
  end_progress();
  packs::merge_records(*earlier, &result.contents);  // measurements outlive a build
  for (const builder::JobFailure &failure : result.failures) {
    complain(fmt::format("{}: {}", failure.job, failure.text));
    exit_code = kSomeFailed;
  }
  for (const builder::VariantFailure &failure : host_failures) {  // already told
    result.failures.push_back({failure.program + "/" + failure.variant, failure.text});
  }
  if (const int code = write_output(result.contents, options.output, options.write); code != kDone)
    return code;
  summarise(options, result);
  return exit_code;
}

}  // namespace

void add_build(CLI::App &app, Command *command) {
  auto options = std::make_shared<Options>();
  CLI::App *sub = app.add_subcommand(
      "build", "Compile every variant with the drivers of this machine and pack the binaries");
  sub->add_option("input", options->input, "Manifest (.toml) or base pack")->required();
  sub->add_option("--device", options->selector,
                  "Index, or glob over platform and device name; default: all");
  sub->add_option("-o,--output", options->output,
                  "Pack to write; a pack that stands there keeps its binaries and targets")
      ->required();
  sub->add_option("--timeout", options->timeout_seconds, "Seconds that one job may take")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  sub->add_option("-j,--jobs", options->jobs,
                  "Jobs to run beside each other; default: the number of usable CPUs")
      ->check(CLI::Range(std::size_t{1}, kMostJobs));
  sub->add_flag("--fresh", options->fresh, "Compile everything again, whatever stands there");
  add_write_options(*sub, &options->write);
  add_host_tools(*sub, &options->tools);
  sub->add_flag("--json", options->json, "Print JSON, schema 1");
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
