// SPDX-License-Identifier: Apache-2.0
// kiln provision: what a pack has for Mesa's shader cache, put where Mesa reads it.
#include "runtime/provision/mesa_provision.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "builder/cli/device_options.hpp"
#include "builder/device/device_list.hpp"
#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/publish/minisign.hpp"
#include "runtime/provision/mesa_cache.hpp"

namespace kiln::cli {
namespace {

constexpr std::chrono::seconds kTimeout{60};
constexpr char kEnvironment[] =
    "MESA_DISK_CACHE_SINGLE_FILE=1 MESA_DISK_CACHE_READ_ONLY_FOZ_DBS=kiln";

struct ProvisionArguments {
  std::string pack;
  std::vector<std::string> keys;
  std::uint64_t revision = 0;  // the smallest
  std::string folder;
  bool remove = false;
  bool json = false;
};

// Mesa's default cache folder.
std::string default_folder() {
  for (const char *name : {"MESA_SHADER_CACHE_DIR", "XDG_CACHE_HOME"}) {
    const char *folder = std::getenv(name);
    if (folder != nullptr && *folder != '\0') return folder;
  }
  const char *home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.cache";
}

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

// The folder of its cache that this machine's Mesa uses for the device; empty if it has none.
std::string place_here(const builder::DeviceInfo &device) {
  const auto opening = builder::harvest_opening(device, kTimeout);
  runtime::MesaBlob blob;
  if (!opening.ok() || !runtime::parse_mesa_blob({opening->data(), opening->size()}, &blob).ok()) {
    return {};
  }
  return std::string(blob.place);
}

std::vector<std::string> places_of(const packs::Contents &contents) {
  std::vector<std::string> places;
  const auto add = [&](const std::optional<packs::BlobSource> &blob) {
    packs::Bytes bytes;
    runtime::MesaBlob parsed;
    if (blob && blob->read(&bytes).ok() &&
        runtime::parse_mesa_blob({bytes.data(), bytes.size()}, &parsed).ok()) {
      places.emplace_back(parsed.place);
    }
  };
  for (const packs::Target &target : contents.targets) {
    if (target.profile != "rusticl") continue;
    add(target.auxiliary);
    for (const packs::Binary &binary : target.binaries) add(binary.auxiliary);
  }
  return places;
}

// Whether Mesa's devices here are served, and by what they would be.
nlohmann::json devices_here(const packs::Contents &contents) {
  nlohmann::json out = nlohmann::json::array();
  const auto devices = builder::list_devices();
  if (!devices.ok()) return out;
  const std::vector<std::string> places = places_of(contents);
  for (const builder::DeviceInfo &device : *devices) {
    if (device.description.finishing != runtime::Finishing::shader_cache) continue;
    const std::string place = place_here(device);
    const bool served = std::find(places.begin(), places.end(), place) != places.end();
    out.push_back({{"device", device.label()}, {"place", place}, {"served", served}});
  }
  return out;
}

// With keys the pack is one that is checked as it is read.
Status demand_signature(const ProvisionArguments &options,
                        std::shared_ptr<const packs::Pack> *pack) {
  if (options.keys.empty()) return {};
  const auto keys = builder::read_public_keys(options.keys);
  if (!keys.ok()) return keys.status();
  const packs::Demand demand{*keys, options.revision};
  Status s = packs::open_trusted(**pack, demand, pack);
  if (s.ok()) return s;
  return {s.code, fmt::format("{}: {} [{}]", options.pack, s.message, packs::code_name(s.code))};
}

int provision(const ProvisionArguments &options) {
  auto open = open_pack(options.pack);
  if (!open.ok()) return fail(open.status());
  if (Status s = demand_signature(options, &open->pack); !s.ok()) return fail(s);
  runtime::ProvisionResult result;
  const Status status = runtime::provision_mesa(*open->pack, options.folder.c_str(), &result);
  if (!status.ok()) {
    const bool bad_pack = runtime::status_of(status.code) == KILN_ERROR_PACK_BAD;
    return fail(bad_pack ? status : as_failed(status));
  }
  const nlohmann::json devices = devices_here(open->contents);
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"folder", options.folder},
                         {"places", result.places},
                         {"written", result.written},
                         {"entries", result.entries},
                         {"bytes", result.bytes},
                         {"environment", kEnvironment},
                         {"devices", devices}});
    return kDone;
  }
  if (result.places == 0) {
    print(fmt::format("{}: nothing for Mesa's shader cache\n", options.pack));
    return kDone;
  }
  std::string text = fmt::format("{}: {} of {} bytes in {}, {} written\n", options.folder,
                                 count(result.entries, "entry"), result.bytes,
                                 count(result.places, "database"), result.written);
  for (const auto &device : devices) {
    text += fmt::format("  {}: {}\n", device["device"].get<std::string>(),
                        device["served"] ? "served"
                                         : "not served: the pack was built with another build of "
                                           "Mesa or LLVM, or for another number of CPUs");
  }
  print(text + "Mesa reads it where the environment has\n  " + kEnvironment + "\n");
  return kDone;
}

}  // namespace

void add_provision(CLI::App &app, Command *command) {
  auto options = std::make_shared<ProvisionArguments>();
  CLI::App *sub = app.add_subcommand(
      "provision", "Put a pack's final code for rusticl where Mesa's shader cache is");
  auto *pack = sub->add_option("--pack", options->pack, "Pack that was built on such a device");
  sub->add_option("--folder", options->folder,
                  "Folder of the cache; default: Mesa's own for this user");
  auto *remove =
      sub->add_flag("--remove", options->remove, "Take out what was put there, and nothing else");
  auto *key = sub->add_option("--key", options->keys,
                              "Public key, a file or its line, of which a signature must be; may "
                              "be repeated");
  key->allow_extra_args(false)->type_name("KEY")->excludes(remove);
  sub->add_option("--revision", options->revision, "The smallest revision that will do")
      ->needs(key)
      ->type_name("N");
  pack->excludes(remove);
  add_json_flag(*sub, &options->json);
  sub->callback([=] {
    if (!options->remove && options->pack.empty()) {
      throw CLI::RequiredError("--pack or --remove");
    }
    if (options->folder.empty()) options->folder = default_folder();
    *command = [=] { return options->remove ? remove_all(*options) : provision(*options); };
  });
}

}  // namespace kiln::cli
