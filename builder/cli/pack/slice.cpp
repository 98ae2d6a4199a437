// SPDX-License-Identifier: Apache-2.0
// kiln pack slice: makes a pack of chosen targets and programs, or of the targets that the devices
// of an inventory use.
#include <set>

#include <fmt/format.h>

#include "builder/cli/common_options.hpp"
#include "builder/fleet/report/target_use.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/pack_slice.hpp"
#include "builder/inspect/printable.hpp"
#include "kiln/packs/bytes.hpp"

namespace kiln::cli {

namespace {

struct SliceArguments {
  std::string input;
  std::string output;
  builder::SliceRequest request;
  std::vector<std::string> inventories;
  std::vector<std::string> without;  // "source", "il"
  packs::WriteOptions write;
  bool json = false;
};

std::size_t binaries_of(const packs::Contents &contents) {
  std::size_t binaries = 0;
  for (const packs::Target &target : contents.targets) {
    binaries += target.binaries.size() + target.intermediates.size();
  }
  return binaries;
}

builder::Cut without_forms(const SliceArguments &options, builder::Cut cut) {
  for (const std::string &form : options.without) {
    (form == "source" ? cut.without_source : cut.without_il) = true;
  }
  return cut;
}

// Warns of each variant that no device can load.
void warn_of_empty_variants(const packs::Contents &slice) {
  std::set<packs::Digest> with_binary;
  for (const packs::Target &target : slice.targets) {
    for (const auto *list : {&target.binaries, &target.intermediates}) {
      for (const packs::Binary &binary : *list) with_binary.insert(binary.variant);
    }
  }
  for (const packs::Program &program : slice.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (variant.source || variant.il32 || variant.il64 || with_binary.contains(variant.hash)) {
        continue;
      }
      complain(builder::printable_line(
          fmt::format("warning: {}/{} has no source, IL or binary: no device can load it",
                      program.name, variant.name)));
    }
  }
}

int slice_as_asked(const SliceArguments &options) {
  const builder::SliceRequest &request = options.request;
  const auto open = open_pack(options.input);
  if (!open.ok()) return fail(open.status());
  if (Status s = check_output(options.output, {options.input}); !s.ok()) return fail(s);
  const auto cut = builder::find_slice(open->contents, request);
  if (!cut.ok()) return fail({cut.status().code, options.input + ": " + cut.status().message});
  const packs::Contents slice = builder::cut_contents(open->contents, without_forms(options, *cut));
  if (Status s = write_output(slice, options.output, options.write); !s.ok()) return fail(s);
  if (!options.without.empty()) warn_of_empty_variants(slice);
  const std::size_t binaries = binaries_of(slice);
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"programs", slice.programs.size()},
                         {"targets", slice.targets.size()},
                         {"binaries", binaries}});
  } else {
    print(fmt::format("{}: {} of {}, {} of {}, {} of {}\n", options.output, slice.programs.size(),
                      count(open->contents.programs.size(), "program"), slice.targets.size(),
                      count(open->contents.targets.size(), "target"), binaries,
                      count(binaries_of(open->contents), "binary")));
  }
  return kDone;
}

std::size_t binaries_of_target(const packs::Target &target) {
  return target.binaries.size() + target.intermediates.size();
}

nlohmann::json inventory_json(const SliceArguments &options, const packs::Contents &contents,
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

std::string inventory_text(const packs::Contents &contents, const builder::InventoryMatch &match) {
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

int slice_for_inventory(const SliceArguments &options) {
  std::vector<std::string> inputs = options.inventories;
  inputs.push_back(options.input);
  const auto open = open_pack(options.input);
  if (!open.ok()) return fail(open.status());
  const auto devices = builder::read_inventory(options.inventories);
  if (!devices.ok()) return fail(devices.status());
  if (Status s = check_output(options.output, inputs); !s.ok()) return fail(s);
  const packs::Contents &contents = open->contents;
  std::size_t all = 0;
  for (const builder::FleetDevice &device : *devices) all += device.devices;
  const auto match = builder::match_inventory(contents, *devices);
  const auto pruned = builder::cut_contents(
      contents, without_forms(options, builder::cut_of(contents, match, *devices)));
  if (Status s = write_output(pruned, options.output, options.write); !s.ok()) return fail(s);
  if (options.json) {
    print(inventory_json(options, contents, match));
  } else {
    print(inventory_text(builder::printable_contents(contents), match) +
          fmt::format("{}: {} of {} for {}\n", options.output, pruned.targets.size(),
                      count(contents.targets.size(), "target"), count(all, "device")));
  }
  return kDone;
}

int run(const SliceArguments &options) {
  const builder::SliceRequest &request = options.request;
  const bool chosen = !request.targets.empty() || !request.families.empty() ||
                      !request.profiles.empty() || !request.programs.empty();
  if (!options.inventories.empty()) {
    if (!chosen) return slice_for_inventory(options);
    return fail(
        {Code::bad_argument, "--inventory chooses the targets itself; slice the result once more"});
  }
  if (chosen || options.write.purpose || !options.without.empty()) return slice_as_asked(options);
  return fail(
      {Code::bad_argument,
       "slice needs one of --target, --family, --profile, --program, --inventory, --without "
       "and --compress"});
}

}  // namespace

void add_slice(CLI::App &app, Command *command) {
  auto options = std::make_shared<SliceArguments>();
  builder::SliceRequest &request = options->request;
  CLI::App *sub =
      app.add_subcommand("slice", "Copy some targets or programs of a pack into a new one");
  sub->add_option("pack", options->input, "Pack to copy from")->required();
  add_output_option(*sub, &options->output, "Pack to write")->required();
  const auto add = [sub](const char *name, std::vector<std::string> *words, const char *type,
                         const char *what) {
    sub->add_option(name, *words, what)->type_name(type)->allow_extra_args(false);
  };
  add("--target", &request.targets, "TARGET",
      "Keep targets that TARGET matches: a key, a key's hash, or a glob over label, platform and "
      "device name");
  add("--family", &request.families, "GLOB", "Keep targets of this family");
  add("--profile", &request.profiles, "GLOB", "Keep targets of this vendor profile");
  add("--program", &request.programs, "NAME", "Keep this program");
  add("--inventory", &options->inventories, "FILE",
      "Keep the targets that the devices in FILE use; FILE is an inventory as for "
      "'kiln fleet report'");
  sub->add_option("--without", options->without,
                  "Leave out 'source' or 'il' of every program: what then has no binary for a "
                  "device does not load there")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"source", "il"}).description(""))
      ->type_name("FORM,...");
  add_compress_option(*sub, &options->write);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
