// SPDX-License-Identifier: Apache-2.0
// kiln-bench: what Kiln's own kernels do on a device, and what a launch costs the processor.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/cli/common_options.hpp"
#include "builder/cli/parse.hpp"
#include "builder/process/foreground.hpp"
#include "tests/bench/kiln_bench/kernels.hpp"
#include "tests/bench/kiln_bench/kernels_report.hpp"
#include "tests/bench/kiln_bench/launch_overhead.hpp"
#include "tests/bench/kiln_bench/page.hpp"

const char *const kiln::cli::kToolName = "kiln-bench";

namespace kiln::cli {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 33;  // of inputs and outputs

struct KernelsArguments {
  std::string pack;
  std::string selector;
  std::vector<std::string> programs;
  std::string variant;
  std::vector<std::string> sizes;
  std::size_t rounds = 0;  // 0: by the precision
  double precision = 0.01;
  std::string budget;
  builder::ReferenceOptions reference;
  bool json = false;
  std::string html;
  std::string tuning;
  std::string startup;
};

template <typename Named>
std::vector<std::string> names_of(const std::vector<Named> &all) {
  std::vector<std::string> names;
  for (const Named &one : all) names.push_back(one.name);
  return names;
}

bool contains(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether the pack has what is asked for. Fails with Code::bad_argument.
Status knows(const packs::Contents &contents, const KernelsArguments &options) {
  const auto programs = names_of(contents.programs);
  for (const std::string &name : options.programs) {
    if (contains(programs, name)) continue;
    return {Code::bad_argument, fmt::format("{} has no program {}: {}", options.pack, name,
                                            builder::expected_one_of(name, programs))};
  }
  std::vector<std::string> variants;
  for (const packs::Program &program : contents.programs) {
    if (!options.programs.empty() && !contains(options.programs, program.name)) continue;
    for (const std::string &name : names_of(program.variants)) {
      if (!contains(variants, name)) variants.push_back(name);
    }
  }
  if (options.variant.empty() || contains(variants, options.variant)) return {};
  return {Code::bad_argument, fmt::format("no program has a variant {}: {}", options.variant,
                                          builder::expected_one_of(options.variant, variants))};
}

// Whether this machine can hold the problems. Fails with Code::failed.
Status fits(const packs::Contents &contents, const builder::KernelBenchOptions &request) {
  for (const packs::Program &program : contents.programs) {
    if (!request.programs.empty() && !contains(request.programs, program.name)) continue;
    for (const builder::ProblemSize &size : request.sizes) {
      const std::uint64_t w = size.width, h = size.height, d = size.depth;
      const bool countable = std::max({w * h, w * d, h * d}) <= kMaxBytes;
      if (countable && builder::bytes_moved(program, size) <= kMaxBytes) continue;
      return {Code::failed, fmt::format("{} of {} has more than {} bytes of inputs and outputs",
                                        program.name, builder::size_text(size), kMaxBytes)};
    }
  }
  return {};
}

// What the options ask for. Fails with Code::bad_argument when they ask for nonsense.
Result<builder::KernelBenchOptions> make_request(const KernelsArguments &options) {
  builder::KernelBenchOptions request;
  request.pack_path = options.pack;
  request.programs = options.programs;
  request.variant = options.variant;
  request.reference = options.reference;
  const auto sizes = read_sizes(options.sizes);
  if (!sizes.ok()) return sizes.status();
  request.sizes = *sizes;
  request.rule.precision = options.precision;
  if (options.rounds != 0) {
    request.rule.least = request.rule.most = options.rounds;
  }
  if (!options.budget.empty()) {
    const auto budget = read_budget(options.budget);
    if (!budget.ok()) return budget.status();
    request.budget_seconds = *budget;
  }
  return request;
}

// A document that another command printed; null where the path is empty. Fails with Code::failed
// for a file that holds no such thing.
Result<json> read_document(const std::string &path, int schema) {
  if (path.empty()) return json();
  std::ifstream file(path);
  json document = json::parse(file, nullptr, false);
  if (document.is_object() && document.value("schema", json()) == schema) return document;
  return Status(Code::failed, file.is_open()
                                  ? fmt::format("{}: not JSON of schema {}", path, schema)
                                  : path + ": cannot be read");
}

std::string conditions(const builder::KernelBenchOptions &request) {
  const std::string stop =
      request.rule.least == request.rule.most
          ? fmt::format("{} launches", request.rule.most)
          : fmt::format("{} to {} launches, until the median is known to {:g}", request.rule.least,
                        request.rule.most, request.rule.precision);
  return fmt::format(
      "Kiln {}; medians of {}, after a warm-up; bytes by the definition, each input read once and "
      "each output written once",
      KILN_VERSION_TEXT, stop);
}

int run(const KernelsArguments &options) {
  const auto request = make_request(options);
  if (!request.ok()) return fail(request.status());
  if (options.html.empty() && !(options.tuning.empty() && options.startup.empty())) {
    return fail({Code::bad_argument, "--tuning and --startup need --html"});
  }
  const auto open = open_pack(options.pack);
  if (!open.ok()) return fail(open.status());
  if (Status s = knows(open->contents, options); !s.ok()) return fail(s);
  if (Status s = fits(open->contents, *request); !s.ok()) return fail(s);
  const auto tuning = read_document(options.tuning, 1);
  const auto startup = read_document(options.startup, 2);
  if (!tuning.ok() || !startup.ok()) {
    if (!tuning.ok() && !startup.ok()) complain(tuning.status().message);
    return fail(startup.ok() ? tuning.status() : startup.status());
  }
  if (!options.html.empty()) {
    Status status = check_output(options.html, {options.pack, options.tuning, options.startup});
    if (!status.ok()) return fail(status);
  }
  const auto devices = find_devices(options.selector);
  if (!devices.ok()) return fail(devices.status());
  json document = {{"schema", 1}, {"conditions", conditions(*request)}, {"devices", json::array()}};
  if (!options.json) print(document["conditions"].get<std::string>() + "\n");
  int exit_code = kDone;
  for (const builder::DeviceInfo &device : *devices) {
    const builder::DeviceRow row =
        builder::bench_kernels(open->contents, device, *request, progress);
    end_progress();
    if (row.failed()) exit_code = kSomeFailed;
    if (!options.json) print("\n" + builder::to_text(row));
    document["devices"].push_back(builder::to_json(row));
  }
  if (options.json) print(document);
  if (options.html.empty()) return exit_code;
  const Status status =
      builder::write_whole_file(options.html, builder::bench_page(document, *tuning, *startup));
  return status.ok() ? exit_code : fail(as_failed(status));
}

void add_stop_options(CLI::App *sub, KernelsArguments *options) {
  CLI::Option *rounds =
      sub->add_option("--rounds", options->rounds, "Launches of each; default: by the precision")
          ->check(CLI::Range(1, 100000));
  sub->add_option("--precision", options->precision,
                  "Launch until the median's standard error is this share of it")
      ->check(CLI::Range(0.0001, 1.0))
      ->excludes(rounds)
      ->capture_default_str();
  sub->add_option("--budget", options->budget,
                  "Time for one device's launches, 60s or 4m; loads and checks come on top");
}

void add_kernels(CLI::App &app, Command *command) {
  auto options = std::make_shared<KernelsArguments>();
  CLI::App *sub = app.add_subcommand(
      "kernels", "Every variant: time, bandwidth, correctness, and what was published of it");
  sub->add_option("--pack", options->pack, "Pack to load from")->required();
  add_device_option(*sub, &options->selector);
  sub->add_option("--program", options->programs, "Only these programs; default: all")
      ->allow_extra_args(false);
  sub->add_option("--variant", options->variant, "Only this variant; default: all");
  sub->add_option("--size", options->sizes,
                  "W, WxH or WxHxD, several; default: each program's own");
  add_stop_options(sub, options.get());
  add_reference_options(*sub, &options->reference);
  add_json_flag(*sub, &options->json);
  sub->add_option("--html", options->html, "Write a page with plots here");
  sub->add_option("--tuning", options->tuning, "What kiln tune --json printed, for the page");
  sub->add_option("--startup", options->startup,
                  "What kiln bench startup --json printed, for the page");
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

struct LaunchArguments {
  builder::LaunchBenchOptions launch;
  std::string selector;
  bool json = false;
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
  const builder::LaunchBenchOptions &launch = options.launch;
  const auto devices = find_devices(options.selector);
  if (!devices.ok()) return fail(devices.status());
  nlohmann::json rows = nlohmann::json::array();
  if (!options.json) {
    print(
        fmt::format("medians of {} rounds of {} launches, nanoseconds until the call returns, "
                    "for each\n  {:>8} {:>8} {:>8} {:>8} {:>10}  recording\n",
                    launch.rounds, launch.launches, "bare", "kiln", "more", "ratio", "sequence"));
  }
  int exit_code = kDone;
  for (const builder::DeviceInfo &device : *devices) {
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

void add_launch(CLI::App &app, Command *command) {
  auto options = std::make_shared<LaunchArguments>();
  CLI::App *sub = app.add_subcommand(
      "launch", "What a launch costs the processor: the bare call, through Kiln, in a sequence");
  add_pack_option(*sub, &options->launch.pack_path, "Pack with a program that has arguments");
  add_device_option(*sub, &options->selector);
  add_program_option(*sub, &options->launch.program,
                     "This program; default: the first that the device can run");
  sub->add_option("--rounds", options->launch.rounds, "Rounds of each kind")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace
}  // namespace kiln::cli

int main(int argc, char **argv) {
  using namespace kiln::cli;
  kiln::builder::prepare_signals();
  return run_command_line("Measures kernels and launches; `kiln bench startup` measures starts.",
                          {add_kernels, add_launch}, argc, argv);
}
