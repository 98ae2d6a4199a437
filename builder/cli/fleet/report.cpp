// SPDX-License-Identifier: Apache-2.0
// kiln fleet report: which devices of a fleet still compile, and what to build next.
#include "builder/fleet/report/fleet_report.hpp"

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "builder/fleet/report/target_use.hpp"

namespace kiln::cli {
namespace {

using nlohmann::json;

struct FleetArguments {
  std::vector<std::string> packs, inventories, reports, earlier;
  std::optional<double> min;  // percent
  std::string html;
  std::string output;  // pack with the targets that the devices take; empty: none
  bool json = false;
};

constexpr std::size_t kWorst = 5;

Status read_fleet(const FleetArguments &arguments, builder::Fleet *fleet) {
  using Kind = builder::FleetReader::Kind;
  builder::FleetReader reader(fleet);
  for (const auto &[files, kind] : {std::pair(&arguments.inventories, Kind::inventory),
                                    std::pair(&arguments.reports, Kind::report)}) {
    for (const std::string &file : *files) {
      if (Status s = reader.add_file(file, kind); !s.ok()) return s;
    }
  }
  for (const std::string &fault : fleet->first_faults) complain(fault);
  if (fleet->faults > fleet->first_faults.size()) {
    complain(count(fleet->faults - fleet->first_faults.size(), "more broken line"));
  }
  return {};
}

int judge(const FleetArguments &arguments, const builder::FleetReport &report) {
  if (!arguments.min || report.exact_percent() >= *arguments.min) return kDone;
  complain(
      fmt::format("{} of {} devices load every program from an exact binary: less than {}%. "
                  "The largest gaps:",
                  report.shares[0].devices, report.all.devices, *arguments.min));
  pass_on(builder::gaps_text(report, kWorst));
  return kSomeFailed;
}

// Writes the pack without the targets that no device takes; returns the number of the others.
Result<std::size_t> write_slice(const FleetArguments &arguments, const builder::FleetReport &report,
                                const packs::Contents &contents) {
  if (report.faults != 0) {
    return Status(Code::bad_input,
                  arguments.output +
                      ": not written, since a broken line may be of a device that takes a target");
  }
  std::vector<builder::FleetDevice> devices;
  for (const builder::FleetPair &pair : report.pairs) devices.push_back(pair.device);
  const auto match = builder::match_inventory(contents, devices);
  const packs::Contents slice =
      builder::cut_contents(contents, builder::cut_of(contents, match, devices));
  const Status status = write_output(slice, arguments.output, {.purpose = packs::Purpose::ready});
  if (!status.ok()) return status;
  return slice.targets.size();
}

int run(const FleetArguments &arguments) {
  std::vector<std::string> inputs = arguments.packs;
  inputs.insert(inputs.end(), arguments.inventories.begin(), arguments.inventories.end());
  inputs.insert(inputs.end(), arguments.reports.begin(), arguments.reports.end());
  inputs.insert(inputs.end(), arguments.earlier.begin(), arguments.earlier.end());
  for (const std::string &output : {arguments.html, arguments.output}) {
    if (output.empty()) continue;
    if (Status s = check_output(output, inputs); !s.ok()) return fail(s);
  }
  if (!arguments.output.empty() && arguments.packs.size() != 1) {
    return fail({Code::bad_argument, "--output is for one pack"});
  }
  std::vector<builder::FleetPack> packs;
  for (const std::string &path : arguments.packs) {
    auto open = read_pack(path);
    if (!open.ok()) return fail(open.status());
    packs.push_back({path, open->pack, std::move(open->contents)});
  }
  builder::Fleet fleet;
  if (Status s = read_fleet(arguments, &fleet); !s.ok()) return fail(s);
  auto report = builder::make_fleet_report(std::move(fleet), packs);
  if (!report.ok()) return fail(report.status());
  for (const std::string &path : arguments.earlier) {
    auto earlier = builder::read_earlier_report(path);
    if (!earlier.ok()) return fail(earlier.status());
    report->earlier.push_back(std::move(*earlier));
  }
  if (!arguments.html.empty()) {
    const Status s = builder::write_whole_file(arguments.html, builder::fleet_report_page(*report));
    if (!s.ok()) return fail(as_failed(s));
  }
  json shown = builder::fleet_report_json(*report);
  std::string text = builder::fleet_report_text(*report);
  if (!arguments.output.empty()) {
    const auto kept = write_slice(arguments, *report, packs[0].contents);
    if (!kept.ok()) return fail(kept.status());
    shown["slice"] = {{"output", arguments.output}, {"targets", *kept}};
    text += fmt::format("\n{}: {} of {}\n", arguments.output, *kept,
                        count(packs[0].contents.targets.size(), "target"));
  }
  arguments.json ? print(shown) : print(text);
  return judge(arguments, *report);
}

}  // namespace

void add_fleet_report(CLI::App &app, Command *command) {
  auto arguments = std::make_shared<FleetArguments>();
  CLI::App *sub = app.add_subcommand(
      "report", "Show what a fleet's devices load, and the gaps by what filling them gains");
  sub->add_option("pack", arguments->packs, "Pack that the devices have")->required();
  const auto add = [sub](const char *name, std::vector<std::string> *files, const char *what) {
    return sub->add_option(name, *files, what)->type_name("FILE...");
  };
  add("--inventory", &arguments->inventories,
      "Devices: output of 'kiln devices --json', lines with a \"key_hash\", or reports; '-' is "
      "standard input")
      ->required();
  add("--reports", &arguments->reports,
      "Reports of loads: deaths, refusals, first results, and which programs are used");
  add("--earlier", &arguments->earlier,
      "Earlier outputs of 'kiln fleet report --json', the oldest first: shows the share over time");
  sub->add_option("--min", arguments->min,
                  "Exit with 1 if a smaller share of the devices loads every program from an exact "
                  "binary")
      ->check(CLI::Range(0.0, 100.0).description(""))
      ->type_name("PERCENT");
  sub->add_option("--html", arguments->html, "Also write the report as a page")->type_name("FILE");
  add_output_option(*sub, &arguments->output,
                    "Also write the pack with only the targets that the devices take");
  add_json_flag(*sub, &arguments->json);
  sub->callback([=] { *command = [=] { return run(*arguments); }; });
}

}  // namespace kiln::cli
