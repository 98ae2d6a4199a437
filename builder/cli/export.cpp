// SPDX-License-Identifier: Apache-2.0
// kiln export: a pack's binaries in the cache of an application that reads no packs.
#include "builder/caches/export.hpp"

#include <fmt/format.h>

#include "builder/base/glob.hpp"
#include "builder/base/suggest.hpp"
#include "builder/cli/cache_options.hpp"
#include "builder/cli/device_options.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"

namespace kiln::cli {
namespace {

using builder::ExportDevice;
using builder::ExportOutcome;

struct ExportArguments {
  builder::CacheRequest cache;
  std::string pack;
  std::string selector;  // devices of this machine
  std::string targets;   // a glob over the pack's
  std::string program;
  bool json = false;
};

Status check_program(const packs::Contents &contents, const ExportArguments &options) {
  if (options.program.empty()) return {};
  std::vector<std::string> names;
  for (const packs::Program &program : contents.programs) {
    if (options.program == program.name) return {};
    names.push_back(program.name);
  }
  return {Code::bad_argument, fmt::format("{} has no program {}: {}", options.pack, options.program,
                                          builder::expected_one_of(options.program, names))};
}

// The targets that the glob names, each under its own identity; an empty glob names all.
Result<std::vector<ExportDevice>> named_targets(const packs::Contents &contents,
                                                const std::string &glob) {
  std::vector<ExportDevice> devices;
  std::string all;
  for (const packs::Target &target : contents.targets) {
    const std::string label = builder::target_label(target);
    all += "\n  " + label;
    if (!glob.empty() && !builder::glob_match(glob, label)) continue;
    devices.push_back({label, target.identity, &target});
  }
  if (!devices.empty()) return devices;
  if (all.empty()) return Status(Code::bad_argument, "the pack has no targets: see 'kiln build'");
  return Status(Code::bad_argument, "no target is named " + glob + "; the pack has" + all);
}

// The devices of this machine, each under the identity that it has now, which need not be the one
// that its target was built under: a binary key leaves out what does not matter to the driver.
Result<std::vector<ExportDevice>> local_devices(const packs::Contents &contents,
                                                const std::string &selector) {
  const auto found = find_devices(selector);
  if (!found.ok()) return found.status();
  std::vector<ExportDevice> devices;
  for (const builder::DeviceInfo &device : *found) {
    for (const packs::Target &target : contents.targets) {
      if (target.key != device.description.key.text()) continue;
      devices.push_back({device.label(), device.identity.facts(), &target});
    }
  }
  if (!devices.empty()) return devices;
  return Status(Code::failed, "the pack has no binaries for the device: see 'kiln build'");
}

nlohmann::json to_json(const ExportOutcome &outcome) {
  nlohmann::json row{
      {"program", outcome.program}, {"variant", outcome.variant}, {"device", outcome.device}};
  if (outcome.status.ok()) {
    row["file"] = outcome.file;
  } else {
    row["reason"] = outcome.status.message;
  }
  return row;
}

int report(const ExportArguments &options, std::size_t devices,
           const std::vector<ExportOutcome> &outcomes) {
  nlohmann::json written = nlohmann::json::array(), left_out = nlohmann::json::array();
  for (const ExportOutcome &outcome : outcomes) {
    (outcome.status.ok() ? written : left_out).push_back(to_json(outcome));
    if (outcome.status.ok()) continue;
    complain(fmt::format("{}: left out: {}",
                         builder::printable_line(fmt::format("{}/{} for {}", outcome.program,
                                                             outcome.variant, outcome.device)),
                         outcome.status.message));
  }
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"format", options.cache.format},
                         {"folder", options.cache.folder},
                         {"written", written},
                         {"left_out", left_out}});
  } else {
    print(fmt::format("{}: {} for {}, {} left out\n", options.cache.folder,
                      count(written.size(), "binary"), count(devices, "device"), left_out.size()));
  }
  return left_out.empty() && !written.empty() ? kDone : kSomeFailed;
}

int run(const ExportArguments &options) {
  const auto open = open_pack(options.pack);
  if (!open.ok()) return fail(open.status());
  if (Status s = check_program(open->contents, options); !s.ok()) return fail(s);
  const auto devices = options.selector.empty() ? named_targets(open->contents, options.targets)
                                                : local_devices(open->contents, options.selector);
  if (!devices.ok()) return fail(devices.status());
  const auto cache = builder::open_cache(options.cache);
  if (!cache.ok()) return fail(cache.status());
  const auto outcomes =
      builder::export_binaries(open->contents, *devices, options.program, cache->get());
  return report(options, devices->size(), outcomes);
}

}  // namespace

void add_export(CLI::App &app, Command *command) {
  auto options = std::make_shared<ExportArguments>();
  CLI::App *sub = app.add_subcommand(
      "export", "Write a pack's binaries into a cache that an application reads itself");
  add_format_option(*sub, &options->cache)->required();
  sub->add_option("pack", options->pack, "Pack with targets")->required();
  sub->add_option("folder", options->cache.folder,
                  "Folder of the cache; made if it is missing, and what is there is kept")
      ->required();
  add_learning_options(*sub, &options->cache);
  auto *targets = sub->add_option("--target", options->targets,
                                  "Glob over the pack's targets to write for; default: all");
  auto *device = sub->add_option(
      "--device", options->selector,
      "Write for these devices of this machine: index, or glob over platform and device name");
  device->excludes(targets);
  sub->add_option("--program", options->program, "Only this program; default: all");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
