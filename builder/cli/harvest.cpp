// SPDX-License-Identifier: Apache-2.0
// kiln harvest: what an application's cache has, into a pack, once it is proven.
#include "builder/caches/harvest.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "builder/cli/cache_options.hpp"
#include "builder/cli/device_options.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/jobs/device_build.hpp"
#include "builder/jobs/earlier.hpp"

namespace kiln::cli {
namespace {

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

// Names what was found and not taken, and what cannot be looked for.
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

// Binaries that stand at the output are kept where the cache gave none.
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
  sub->add_option("-o,--output", options->output,
                  "Pack to write; a pack that stands there keeps its binaries and targets")
      ->required();
  add_timeout_option(*sub, &options->timeout_seconds, "Seconds that one proof may take");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli
