// SPDX-License-Identifier: Apache-2.0
// kiln tune: measures which work-group sizes and variants are fastest on a device.
#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/base/table.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "builder/cli/shared/compiling.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/tune/tune.hpp"

namespace kiln::cli {
namespace {

struct TuneArguments {
  builder::TuneOptions tune;
  std::string selector;
  std::string output;
  std::vector<std::string> sizes;
  std::string budget = "60s";
  bool json = false;
};

Result<builder::TuneOptions> parse(const TuneArguments &options) {
  const auto budget = read_budget(options.budget);
  if (!budget.ok()) return budget.status();
  const auto sizes = read_sizes(options.sizes);
  if (!sizes.ok()) return sizes.status();
  builder::TuneOptions tune = options.tune;
  tune.budget_seconds = *budget;
  tune.sizes = *sizes;
  return tune;
}

// Checks that the pack has the programs, and that one of them has the variant. Fails with
// Code::bad_argument.
Status knows_names(const packs::Contents &contents, const TuneArguments &options) {
  for (const std::string &name : options.tune.programs) {
    if (Status s = check_program(contents, options.tune.pack_path, name); !s.ok()) return s;
  }
  std::set<std::string> variants;
  for (const packs::Program &program : contents.programs) {
    const bool chosen = options.tune.programs.empty() ||
                        std::find(options.tune.programs.begin(), options.tune.programs.end(),
                                  program.name) != options.tune.programs.end();
    if (!chosen) continue;
    for (const packs::Variant &variant : program.variants) variants.insert(variant.name);
  }
  if (options.tune.variant.empty() || variants.count(options.tune.variant) != 0) return {};
  return {Code::bad_argument,
          fmt::format(
              "no variant {}: {}", options.tune.variant,
              builder::expected_one_of(options.tune.variant, {variants.begin(), variants.end()}))};
}

constexpr char kCutShort[] = " (search cut short)";

// Returns "81.20 us" or "1.234 ms"; "-" if there is no time.
std::string time_text(double nanoseconds) {
  if (nanoseconds <= 0) return "-";
  return nanoseconds < 1e6 ? fmt::format("{:.2f} us", nanoseconds / 1e3)
                           : fmt::format("{:.3f} ms", nanoseconds / 1e6);
}

// Returns a line of times: with the driver's size, with the best, and what that gains.
std::string row_text(bool best, const std::string &name, double by_default, double nanoseconds,
                     double spread, const std::string &local) {
  const double gain = nanoseconds > 0 ? by_default / nanoseconds : 0;
  return fmt::format("  {} {}\t{}\t{}\t{}\t{:.1f}%\t{}\n", best ? '*' : ' ', name,
                     time_text(by_default), time_text(nanoseconds),
                     gain > 0 ? fmt::format("{:.2f}", gain) : "-", 100 * spread, local);
}

std::string row_text(const builder::TunedVariant &variant, bool best) {
  if (!variant.measured()) {
    return fmt::format("    {}\t{}\n", variant.variant,
                       variant.reason.substr(0, variant.reason.find('\n')));
  }
  std::string local;
  bool finished = true;
  for (const builder::TunedKernel &kernel : variant.kernels) {
    local += (local.empty() ? "" : ", ") + builder::local_text(kernel.local);
    finished = finished && kernel.finished;
  }
  if (!finished) local += kCutShort;
  if (variant.check == builder::Check::unchecked) local += " (unchecked)";
  return row_text(best, variant.variant, variant.default_nanoseconds, variant.nanoseconds,
                  variant.spread, local);
}

std::string row_text(const builder::TunedLaunch &launch) {
  const builder::TunedKernel &kernel = launch.kernel;
  std::string name = kernel.kernel;
  if (!name.empty()) name += fmt::format(" ({})", builder::size_class_name(launch.size_class));
  const std::string cut = kernel.finished ? "" : kCutShort;
  if (launch.end != builder::LaunchEnd::better) {
    const std::string reason = launch.reason.substr(0, launch.reason.find('\n'));
    return "    " + name + "\t" + reason + cut + "\n";
  }
  return row_text(true, name, kernel.default_nanoseconds, kernel.nanoseconds, kernel.spread,
                  builder::local_text(kernel.local) + cut +
                      (launch.compared_on_pattern ? "" : " (compared on zeros alone)"));
}

// The launches of one program must follow one another.
std::string table(const builder::TunedDevice &tuned) {
  if (!tuned.status.ok()) {
    return fmt::format("{}\n  not tuned: {}\n", tuned.device.label(), tuned.status.message);
  }
  constexpr char kHeading[] = "\tdriver's size\tbest\tgain\tspread\twork-group\n";
  std::string text = tuned.device.label() + "\n";
  for (const builder::TunedSize &size : tuned.sizes) {
    text +=
        fmt::format("  {} {} ({}){}", size.program, builder::size_text(size.size),
                    builder::size_class_name(packs::size_class(size.size.elements())), kHeading);
    for (const builder::TunedVariant &variant : size.variants) {
      text += row_text(variant, &variant == size.best());
    }
    if (!size.complete() && size.best() != nullptr) {
      text += "    no choice is stored: the budget was not enough for all variants\n";
    }
  }
  std::string program;
  for (const builder::TunedLaunch &launch : tuned.launches) {
    if (launch.program != program) text += "  " + launch.program + ", as recorded" + kHeading;
    program = launch.program;
    text += row_text(launch);
  }
  text = builder::table_text(text, "<>>>>");
  if (tuned.sizes.empty() && !tuned.launches.empty()) return text;
  std::size_t measured = 0;
  const double gain = tuned.mean_gain(&measured);
  if (measured == 0) return text + "  nothing was measured against the driver's sizes\n";
  return text + fmt::format("  gain over the driver's sizes: {:.2f}, the geometric mean of {}\n",
                            gain, measured);
}

// Whether tuning failed on the device or rejected a variant.
bool failed(const builder::TunedDevice &tuned) {
  if (!tuned.status.ok()) return true;
  for (const builder::TunedSize &size : tuned.sizes) {
    for (const builder::TunedVariant &variant : size.variants) {
      if (variant.rejected()) return true;
    }
  }
  return false;
}

// Returns the contents to add records to: `read`, or, if the output replaces the input, the input
// read again, since another command may have added to it. Call it under lock_output().
Result<packs::Contents> latest_contents(const std::string &input, const std::string &output,
                                        const packs::Contents &read) {
  std::error_code ignored;
  if (!std::filesystem::equivalent(input, output, ignored)) return read;
  auto open = read_pack(input);
  if (!open.ok()) return open.status();
  return std::move(open->contents);
}

struct Rows {
  std::size_t measured = 0;
  std::size_t in_pack = 0;
};

Status write(const TuneArguments &options, const packs::Contents &read,
             const std::vector<builder::TunedDevice> &results, Rows *rows) {
  const packs::FolderLock lock = lock_output(options.output);
  auto latest = latest_contents(options.tune.pack_path, options.output, read);
  if (!latest.ok()) return latest.status();
  for (const builder::TunedDevice &tuned : results) {
    rows->measured += builder::store_tunings(tuned, &*latest);
  }
  rows->in_pack = latest->tunings.size();
  return write_output(*latest, options.output);
}

int run(const TuneArguments &options) {
  supervise_command();
  const auto tune = parse(options);
  if (!tune.ok()) return fail(tune.status());
  if (Status s = check_output(options.output, {}); !s.ok()) return fail(s);
  auto open = read_pack(options.tune.pack_path);
  if (!open.ok()) return fail(open.status());
  packs::Contents &contents = open->contents;
  if (Status s = knows_names(contents, options); !s.ok()) return fail(s);
  if (Status s = leave_out_driver_variables(); !s.ok()) return fail(s);
  const auto devices = find_devices(options.selector);
  if (!devices.ok()) return fail(devices.status());
  int exit_code = kDone;
  std::string text;
  nlohmann::json list = nlohmann::json::array();
  std::set<std::string> seen;
  std::vector<builder::TunedDevice> results;
  for (const builder::DeviceInfo &device : *devices) {
    if (!seen.insert(device.description.key.text()).second) continue;
    const builder::TunedDevice tuned = builder::tune(
        contents, device, *tune, [](const std::string &what, std::size_t done, std::size_t all) {
          progress("tuning " + what, done, all);
        });
    end_progress();
    if (failed(tuned)) exit_code = kSomeFailed;
    if (!options.json) print(table(tuned));
    list.push_back(builder::to_json(tuned));
    results.push_back(tuned);
  }
  Rows rows;
  if (Status s = write(options, contents, results, &rows); !s.ok()) return fail(s);
  if (options.json) {
    print(nlohmann::json{{"schema", 1}, {"output", options.output}, {"devices", list}});
  } else {
    print(fmt::format("{}: {} measured, {} in the pack\n", options.output,
                      count(rows.measured, "row"), rows.in_pack));
  }
  return exit_code;
}

}  // namespace

void add_tune(CLI::App &app, Command *command) {
  auto options = std::make_shared<TuneArguments>();
  CLI::App *sub = app.add_subcommand(
      "tune",
      "Measure which work-group sizes and variants are fastest, and record them in the pack");
  sub->add_option("pack", options->tune.pack_path, "Pack with programs")->required();
  add_device_option(*sub, &options->selector);
  add_output_option(*sub, &options->output, "Pack to write; may be the input")->required();
  sub->add_option("--program", options->tune.programs,
                  "Only this program; default: all; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_variant_option(*sub, &options->tune.variant, "Only this variant; default: all");
  sub->add_option("--size", options->sizes,
                  "WxH or WxHxD; default: from the manifest, one for each size class")
      ->type_name("SIZE,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_budget_option(*sub, &options->budget, "Time for each device: 60s, 500ms, 2m");
  add_timeout_option(*sub, &options->tune.timeout,
                     "Seconds that one variant may take beyond its share of the budget");
  add_reference_options(*sub, &options->tune.reference);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
