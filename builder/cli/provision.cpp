// SPDX-License-Identifier: Apache-2.0
// kiln provision: prepares a device for the first start of an application. Puts a pack's entries
// for Mesa's shader cache where Mesa reads them; with --launch, launches every program once, so
// that the drivers' own caches and an overlay hold the code that the drivers compile.
#include <fmt/format.h>

#include "builder/base/table.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/finish/warm.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/sign/public_keys.hpp"
#include "builder/under_layer/layer_environment.hpp"
#include "runtime/provision/mesa_cache.hpp"
#include "runtime/provision/mesa_provision.hpp"

namespace kiln::cli {

namespace {

constexpr char kEnvironment[] =
    "MESA_DISK_CACHE_SINGLE_FILE=1 MESA_DISK_CACHE_READ_ONLY_FOZ_DBS=kiln";

struct ProvisionArguments {
  std::string pack;
  std::string selector;
  std::string program;  // empty: all
  bool json = false;
  builder::PublicKeys keys;
  std::string folder;
  bool remove = false;
  bool launch = false;
  std::string overlay;
  std::chrono::milliseconds timeout{120'000};
};

int remove_all(const ProvisionArguments &options) {
  std::size_t removed = 0;
  const Status status = runtime::remove_provisioned(options.folder.c_str(), &removed);
  if (!status.ok()) return fail(as_failed(status));
  if (options.json) {
    print(nlohmann::json{{"schema", 1}, {"folder", options.folder}, {"removed", removed}});
  } else {
    print(fmt::format("{}: {} taken out\n", options.folder, count(removed, "database")));
  }
  return kDone;
}

// Returns each device of Mesa's on this machine, with its cache folder and whether the pack has
// entries for it.
nlohmann::json devices_here(const packs::Contents &contents) {
  nlohmann::json out = nlohmann::json::array();
  const auto devices = builder::list_devices();
  if (!devices.ok()) return out;
  const std::vector<std::string> places = builder::mesa_places(contents);
  for (const builder::DeviceInfo &device : *devices) {
    if (device.description.finishing != runtime::Finishing::shader_cache) continue;
    const std::string place = builder::mesa_place(device);
    const bool served = std::find(places.begin(), places.end(), place) != places.end();
    out.push_back({{"device", device.label()}, {"place", place}, {"served", served}});
  }
  return out;
}

// Puts the pack's entries where Mesa reads them, and describes that in `answer` and `text`.
int install(const ProvisionArguments &options, const PackFile &open, nlohmann::json *answer,
            std::string *text) {
  runtime::MesaEntries entries;
  runtime::ProvisionResult result;
  Status status = entries.add(open.pack);
  if (status.ok()) status = entries.provision(options.folder.c_str(), &result);
  if (!status.ok()) {
    const bool bad_pack = runtime::status_of(status.code) == KILN_ERROR_PACK_BAD;
    return fail(bad_pack ? status : as_failed(status));
  }
  const nlohmann::json devices = devices_here(open.contents);
  *answer = {{"schema", 1},
             {"folder", options.folder},
             {"places", result.places},
             {"written", result.written},
             {"entries", result.entries},
             {"bytes", result.bytes},
             {"environment", kEnvironment},
             {"devices", devices}};
  if (result.places == 0) {
    *text = fmt::format("{}: nothing for Mesa's shader cache\n", options.pack);
    return kDone;
  }
  *text = fmt::format("{}: {} of {} bytes in {}, {} written\n", options.folder,
                      count(result.entries, "entry"), result.bytes,
                      count(result.places, "database"), result.written);
  for (const auto &device : devices) {
    *text += fmt::format("  {}: {}\n", device["device"].get<std::string>(),
                         device["served"] ? "served"
                                          : "not served: the pack was built with another build of "
                                            "Mesa or LLVM, or for another number of CPUs");
  }
  *text += fmt::format("Mesa reads it where the environment has\n  {}\n", kEnvironment);
  return kDone;
}

std::string row_text(const builder::WarmRow &row) {
  const Status &status = row.status;
  if (!status.ok() && row.before == 0) {
    return fmt::format("  {}\t{}\n", row.program, status.message);
  }
  const std::string note =
      row.only_loaded.empty() ? status.message : "only loaded: " + row.only_loaded;
  return fmt::format("  {}/{}\t{}\t{:.3f}\t{:.3f}\t{:.3f}\t{}\n", row.program, row.variant,
                     row.rung, row.before, row.after, row.before - row.after, note);
}

// Launches every program on each device, and describes that in `answer` and `text`.
int launch(const ProvisionArguments &options, const packs::Contents &contents,
           nlohmann::json *answer, std::string *text) {
  const auto devices = find_devices(options.selector);
  if (!devices.ok()) return fail(devices.status());
  const builder::WarmOptions warm{options.pack, options.program, options.overlay, options.timeout};
  int exit_code = kDone;
  nlohmann::json all = nlohmann::json::array();
  for (const builder::DeviceInfo &device : *devices) {
    const auto rows = builder::warm(contents, device, warm, progress);
    end_progress();
    nlohmann::json programs = nlohmann::json::array();
    double before = 0;
    double after = 0;
    std::string table = device.label() + "\n  milliseconds\trung\tnow\tfrom now\tsaved\t\n";
    for (const builder::WarmRow &row : rows) {
      if (!row.status.ok()) exit_code = kSomeFailed;
      before += row.before;
      after += row.after;
      table += row_text(row);
      programs.push_back(builder::to_json(row));
    }
    table += fmt::format("  together\t\t{:.3f}\t{:.3f}\t{:.3f}\t\n", before, after, before - after);
    *text += builder::table_text(table, "<<>>>");
    all.push_back({{"device", device.label()},
                   {"before_ms", before},
                   {"after_ms", after},
                   {"saved_ms", before - after},
                   {"programs", programs}});
  }
  (*answer)["launches"] = all;
  return exit_code;
}

int provision(const ProvisionArguments &options) {
  auto open = read_pack(options.pack);
  if (!open.ok()) return fail(open.status());
  if (Status s = options.keys.check(options.pack, &open->pack); !s.ok()) return fail(s);
  nlohmann::json answer;
  std::string text;
  int exit_code = install(options, *open, &answer, &text);
  if (exit_code != kDone) return exit_code;
  if (options.launch) exit_code = launch(options, open->contents, &answer, &text);
  options.json ? print(answer) : print(text);
  return exit_code;
}

}  // namespace

void add_provision(CLI::App &app, Command *command) {
  auto options = std::make_shared<ProvisionArguments>();
  CLI::App *sub = app.add_subcommand("provision",
                                     "Prepare this device for first runs: put a pack's code into "
                                     "Mesa's cache, fill drivers' caches");
  auto *pack =
      sub->add_option("pack", options->pack,
                      "Pack with binaries for this device; required unless --remove is given");
  sub->add_option("--folder", options->folder,
                  "Folder of the cache; default: Mesa's own for this user")
      ->type_name("DIR");
  auto *remove = sub->add_flag(
      "--remove", options->remove,
      "Remove what 'kiln provision' and 'kiln serve' wrote to the folder, and nothing else");
  add_public_keys_option(*sub, &options->keys);
  add_least_revision_option(*sub, &options->keys.revision);
  CLI::Option *key = sub->get_option("--key");
  key->excludes(remove);
  sub->get_option("--min-revision")->needs(key);
  pack->excludes(remove);
  auto *launch =
      sub->add_flag("--launch", options->launch,
                    "Also launch every program once, so that each driver caches its code");
  launch->excludes(remove);
  add_device_option(*sub, &options->selector);
  add_program_option(*sub, &options->program);
  add_overlay_option(*sub, &options->overlay, "Also fill this overlay");
  add_timeout_option(*sub, &options->timeout, "Seconds that one program may take");
  for (const char *name : {"--device", "--program", "--overlay", "--timeout"}) {
    sub->get_option(name)->needs(launch);
  }
  add_json_flag(*sub, &options->json);
  sub->callback([=] {
    if (!options->remove && options->pack.empty()) {
      throw CLI::RequiredError("a pack or --remove");
    }
    if (options->folder.empty()) options->folder = builder::mesa_folder();
    *command = [=] { return options->remove ? remove_all(*options) : provision(*options); };
  });
}

}  // namespace kiln::cli
