// SPDX-License-Identifier: Apache-2.0
// kiln prune: leaves out the targets that no device of a fleet takes.
#include <fmt/format.h>

#include "builder/cli/device_options.hpp"
#include "builder/inspect/inventory.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "kiln/packs/hash.hpp"

namespace kiln::cli {
namespace {

struct PruneArguments {
  std::string input;
  std::vector<std::string> inventories;
  std::string output;
  packs::WriteOptions write;
  bool json = false;
};

std::size_t binaries_of_target(const packs::Target &target) {
  return target.binaries.size() + target.intermediates.size();
}

nlohmann::json prune_json(const PruneArguments &options, const packs::Contents &contents,
                          const builder::InventoryMatch &match) {
  nlohmann::json kept = nlohmann::json::array();
  nlohmann::json gone = nlohmann::json::array();
  for (std::size_t i = 0; i < contents.targets.size(); ++i) {
    const packs::Target &target = contents.targets[i];
    nlohmann::json row = {{"target", builder::target_label(target)},
                          {"key", target.key},
                          {"binaries", binaries_of_target(target)}};
    if (match.uses[i].empty()) {
      gone.push_back(std::move(row));
      continue;
    }
    for (const builder::TargetUse &use : match.uses[i]) {
      row["devices"].push_back({{"device", use.device}, {"reason", use.why}});
    }
    kept.push_back(std::move(row));
  }
  return {{"schema", 1},
          {"output", options.output},
          {"kept", kept},
          {"gone", gone},
          {"devices_without_target", match.without}};
}

std::string prune_text(const packs::Contents &contents, const builder::InventoryMatch &match) {
  std::string text;
  for (std::size_t i = 0; i < contents.targets.size(); ++i) {
    const std::string label = builder::target_label(contents.targets[i]);
    if (match.uses[i].empty()) {
      text += fmt::format("gone: {} {:016x}, {}\n", label, packs::xxh3(contents.targets[i].key),
                          count(binaries_of_target(contents.targets[i]), "binary"));
    } else {
      const builder::TargetUse &use = match.uses[i].front();
      const std::size_t more = match.uses[i].size() - 1;
      text += fmt::format("kept: {} for {}: {}{}\n", label, builder::printable_line(use.device),
                          use.why,
                          more == 0 ? "" : fmt::format("; and {}", count(more, "more device")));
    }
  }
  for (const std::string &device : match.without)
    text += "no target for " + builder::printable_line(device) + "\n";
  return text;
}

int run_prune(const PruneArguments &options) {
  std::vector<std::string> inputs = options.inventories;
  inputs.push_back(options.input);
  const auto open = open_pack(options.input);
  if (!open.ok()) return fail(open.status());
  std::vector<builder::InventoryDevice> devices;
  for (const std::string &path : options.inventories) {
    const auto more = builder::read_inventory(path);
    if (!more.ok()) return fail(more.status());
    devices.insert(devices.end(), more->begin(), more->end());
  }
  if (Status s = check_output(options.output, inputs); !s.ok()) return fail(s);
  const packs::Contents &contents = open->contents;
  const auto match = builder::match_inventory(*open->pack, contents, devices);
  const auto pruned = builder::cut_contents(contents, builder::cut_of(contents, match, devices));
  if (Status s = write_output(pruned, options.output, options.write); !s.ok()) return fail(s);
  if (options.json) {
    print(prune_json(options, contents, match));
  } else {
    print(prune_text(builder::printable_contents(contents), match) +
          fmt::format("{}: {} of {} for {}\n", options.output, pruned.targets.size(),
                      count(contents.targets.size(), "target"), count(devices.size(), "device")));
  }
  return kDone;
}

}  // namespace

void add_prune(CLI::App &app, Command *command) {
  auto options = std::make_shared<PruneArguments>();
  CLI::App *sub =
      app.add_subcommand("prune", "Leave out the targets that no device of an inventory takes");
  sub->add_option("pack", options->input, "Pack with targets")->required();
  sub->add_option("--inventory", options->inventories,
                  "What 'kiln devices --json' printed, or an array of that; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->required();
  sub->add_option("-o,--output", options->output, "Pack to write")->required();
  add_purpose_option(*sub, &options->write);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_prune(*options); }; });
}

}  // namespace kiln::cli
