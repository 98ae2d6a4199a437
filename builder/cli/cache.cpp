// SPDX-License-Identifier: Apache-2.0
// kiln cache export and kiln cache harvest: write binaries to, and read them from, the cache of an
// application that reads no packs.
#include <filesystem>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/caches/harvest.hpp"
#include "builder/cli/common_options.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/jobs/device_build.hpp"
#include "builder/jobs/earlier.hpp"

namespace kiln::cli {

namespace {

using builder::ExportDevice;
using builder::ExportOutcome;

struct ExportArguments {
  builder::CacheRequest cache;
  std::string pack;
  std::string selector;  // devices of this machine
  std::string targets;   // a glob over the pack's targets
  std::string program;
  bool json = false;
};

// Returns the targets that the glob matches, each under its own identity; an empty glob matches
// all.
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

// Returns the devices of this machine, each under its present identity. The target may have been
// built under another identity, since a binary key leaves out facts that do not matter to the
// driver.
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
  if (!options.program.empty()) {
    Status s = check_program(open->contents, options.pack, options.program);
    if (!s.ok()) return fail(s);
  }
  const auto devices = options.selector.empty() ? named_targets(open->contents, options.targets)
                                                : local_devices(open->contents, options.selector);
  if (!devices.ok()) return fail(devices.status());
  const auto cache = builder::open_cache(options.cache);
  if (!cache.ok()) return fail(cache.status());
  const auto outcomes =
      builder::export_binaries(open->contents, *devices, options.program, cache->get());
  return report(options, devices->size(), outcomes);
}

using builder::Harvested;
using builder::HarvestOutcome;
using builder::HarvestResult;

struct HarvestArguments {
  builder::CacheRequest cache;
  std::string base;
  std::string selector;
  std::string output;
  double timeout_seconds = 120;
  bool json = false;
};

struct Counts {
  std::size_t taken = 0;
  std::size_t absent = 0;
  std::size_t refused = 0;
};

// Prints the binaries that were found but not taken, and the variants that could not be looked up.
// Counts the outcomes.
Counts tell(const std::vector<HarvestOutcome> &outcomes) {
  Counts counts;
  for (const HarvestOutcome &outcome : outcomes) {
    if (outcome.what == Harvested::taken) ++counts.taken;
    if (outcome.what == Harvested::absent) ++counts.absent;
    if (outcome.what == Harvested::taken || outcome.what == Harvested::absent) continue;
    ++counts.refused;
    complain(fmt::format("{}: left out: {}",
                         builder::printable_line(fmt::format("{}/{} for {}", outcome.program,
                                                             outcome.variant, outcome.device)),
                         outcome.status.message));
  }
  return counts;
}

const char *word_of(Harvested what) {
  switch (what) {
    case Harvested::taken: return "taken";
    case Harvested::absent: return "absent";
    case Harvested::no_key: return "no key";
    default: return "refused";
  }
}

nlohmann::json to_json(const std::vector<HarvestOutcome> &outcomes) {
  nlohmann::json rows = nlohmann::json::array();
  for (const HarvestOutcome &outcome : outcomes) {
    rows.push_back({{"program", outcome.program},
                    {"variant", outcome.variant},
                    {"device", outcome.device},
                    {"outcome", word_of(outcome.what)},
                    {"reason", outcome.status.message}});
  }
  return rows;
}

// Writes the pack. Keeps binaries of an earlier output for which the cache has none.
Status write(const HarvestArguments &options, packs::Contents *contents) {
  const packs::FolderLock lock = lock_output(options.output);
  if (std::filesystem::exists(options.output)) {
    const auto earlier = open_pack(options.output);
    if (!earlier.ok()) return earlier.status();
    builder::keep_earlier(earlier->contents, contents);
    packs::merge_records(earlier->contents, contents);
  }
  return write_output(*contents, options.output);
}

Result<HarvestResult> harvest(const HarvestArguments &options, builder::CacheRequest *request) {
  *request = options.cache;
  if (request->format.empty()) {
    Status s = builder::recognise_cache(request->folder).move_to(&request->format);
    if (!s.ok()) return s;
  }
  const auto base = open_pack(options.base);
  if (!base.ok()) return base.status();
  const auto devices = find_devices(options.selector);
  if (!devices.ok()) return devices.status();
  const auto cache = builder::open_cache(*request);
  if (!cache.ok()) return cache.status();
  HarvestResult result = builder::harvest(base->contents, *devices,
                                          in_milliseconds(options.timeout_seconds), cache->get(),
                                          [](const std::string &what, std::size_t done,
                                             std::size_t all) { progress(what, done, all); });
  end_progress();
  return result;
}

int run(const HarvestArguments &options) {
  supervise_command();
  if (Status s = check_output(options.output, {}); !s.ok()) return fail(s);
  builder::CacheRequest request;
  auto result = harvest(options, &request);
  if (!result.ok()) return fail(result.status());
  const Counts counts = tell(result->outcomes);
  if (counts.taken == 0) {
    return fail(
        {Code::failed, fmt::format("{}: nothing of the {} cache was taken, so {} was not written",
                                   request.folder, request.format, options.output)});
  }
  if (Status s = write(options, &result->contents); !s.ok()) return fail(s);
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"format", request.format},
                         {"output", options.output},
                         {"programs", to_json(result->outcomes)}});
  } else {
    print(fmt::format("{}: {} of the {} cache proven and taken, {} absent, {} left out\n",
                      options.output, count(counts.taken, "binary"), request.format, counts.absent,
                      counts.refused));
  }
  return counts.refused == 0 ? kDone : kSomeFailed;
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
                                  "Glob over the pack's targets to write for; default: all")
                      ->type_name("GLOB");
  add_device_option(*sub, &options->selector, "those of --target");
  sub->get_option("--device")->excludes(targets);
  add_program_option(*sub, &options->program);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

void add_harvest(CLI::App &app, Command *command) {
  auto options = std::make_shared<HarvestArguments>();
  CLI::App *sub =
      app.add_subcommand("harvest", "Prove what an application's own cache has, and pack it");
  sub->add_option("folder", options->cache.folder, "Folder of the cache")->required();
  sub->add_option("--base", options->base, "Pack that has the application's programs")
      ->type_name("PACK")
      ->required();
  add_format_option(*sub, &options->cache, "; default: as its files say");
  add_learning_options(*sub, &options->cache);
  add_device_option(*sub, &options->selector);
  add_output_option(*sub, &options->output,
                    "Pack to write; if it exists, its binaries and targets are kept")
      ->required();
  add_timeout_option(*sub, &options->timeout_seconds, "Seconds that one proof may take");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
