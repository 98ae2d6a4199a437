// SPDX-License-Identifier: Apache-2.0
// kiln crosscheck: which binaries of other targets this machine's devices accept.
#include <fmt/format.h>

#include "builder/cli/common_options.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/prove/crosscheck.hpp"

namespace kiln::cli {
namespace {

using builder::CrossCheckOutcome;
using Devices = std::vector<builder::DeviceInfo>;

struct CrosscheckArguments {
  std::string input;
  std::string selector;
  std::string output;
  double timeout_seconds = 120;
  builder::ReferenceOptions references;
  bool all = false;
  bool json = false;
};

const char *name_of(const CrossCheckOutcome &outcome) {
  return builder::cross_result_name(static_cast<std::uint32_t>(outcome.result));
}

// Returns a block for each device: result, target, and the reason if the result is not native.
std::string table(const packs::Contents &contents, const Devices &devices,
                  const std::vector<CrossCheckOutcome> &outcomes) {
  std::string text;
  const CrossCheckOutcome *previous = nullptr;
  for (const CrossCheckOutcome &outcome : outcomes) {
    if (previous == nullptr || previous->device != outcome.device) {
      text += devices[outcome.device].label() + " takes binaries of\n";
    }
    previous = &outcome;
    text += fmt::format(
        "  {:10} {}{}{}\n", name_of(outcome),
        builder::printable_line(builder::target_label(contents.targets[outcome.target])),
        outcome.reason.empty() ? "" : ": ", outcome.reason);
  }
  return text;
}

nlohmann::json to_json(const packs::Contents &contents, const Devices &devices,
                       const std::vector<CrossCheckOutcome> &outcomes) {
  nlohmann::json list = nlohmann::json::array();
  for (const CrossCheckOutcome &outcome : outcomes) {
    const packs::Target &target = contents.targets[outcome.target];
    list.push_back({{"device", devices[outcome.device].label()},
                    {"device_key", devices[outcome.device].description.key.text()},
                    {"target", builder::target_label(target)},
                    {"target_key", target.key},
                    {"result", name_of(outcome)},
                    {"binaries", outcome.binaries},
                    {"reason", outcome.reason},
                    {"driver_output", outcome.output}});
  }
  return list;
}

// Writes the output, and sets `*rows` to its number of cross-checks.
Status write(const CrosscheckArguments &options, const packs::Contents &read,
             const packs::Contents &records, std::size_t *rows) {
  const packs::FolderLock lock = lock_output(options.output);
  auto latest = latest_contents(options.input, options.output, read);
  if (!latest.ok()) return latest.status();
  packs::merge_records(records, &*latest);
  *rows = latest->cross_checks.size();
  return write_output(*latest, options.output);
}

int run(const CrosscheckArguments &options) {
  supervise_command();
  if (Status s = check_output(options.output, {}); !s.ok()) return fail(s);
  auto open = open_pack(options.input);
  if (!open.ok()) return fail(open.status());
  packs::Contents &contents = open->contents;
  const auto devices = find_devices(options.selector);
  if (!devices.ok()) return fail(devices.status());
  builder::CrossCheckOptions check;
  check.timeout = in_milliseconds(options.timeout_seconds);
  check.all = options.all;
  check.references = options.references;
  std::vector<CrossCheckOutcome> outcomes;
  const Status status = builder::cross_check(
      contents, options.input, *devices, check,
      [](const std::string &what, std::size_t done, std::size_t all) { progress(what, done, all); },
      &outcomes);
  end_progress();
  if (!status.ok()) {
    // A missing device is no fault of the pack.
    const Code code = status.code == Code::io_error ? Code::failed : status.code;
    return fail({code, fmt::format("{} [{}]", status.message, packs::code_name(status.code))});
  }
  std::size_t rows = 0;
  if (Status s = write(options, contents, builder::records_of(contents, *devices, outcomes), &rows);
      !s.ok()) {
    return fail(s);
  }
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"cross_checks", to_json(contents, *devices, outcomes)}});
  } else {
    print(table(contents, *devices, outcomes) +
          fmt::format("{}: {} checked, {} in the pack\n", options.output,
                      count(outcomes.size(), "pair"), count(rows, "record")));
  }
  return kDone;
}

}  // namespace

void add_crosscheck(CLI::App &app, Command *command) {
  auto options = std::make_shared<CrosscheckArguments>();
  CLI::App *sub = app.add_subcommand(
      "crosscheck",
      "Test which other targets' binaries work on a device, and record it in the pack");
  sub->add_option("pack", options->input, "Pack with targets")->required();
  add_device_option(*sub, &options->selector);
  add_output_option(*sub, &options->output, "Pack to write; may be the input")->required();
  sub->add_flag("--all", options->all, "Test targets of other vendor profiles, too");
  add_timeout_option(*sub, &options->timeout_seconds, "Seconds that one binary may take");
  add_reference_options(*sub, &options->references);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
