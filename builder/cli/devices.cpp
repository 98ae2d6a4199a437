// SPDX-License-Identifier: Apache-2.0
// kiln devices: identities of this machine's devices.
#include <fmt/format.h>

#include "builder/cli/shared/common_options.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::cli {
namespace {

using nlohmann::json;

std::string il_text(const runtime::Capabilities &capabilities) {
  std::string text;
  for (const std::uint32_t version : capabilities.il_versions) {
    text += fmt::format("{}SPIR-V {}.{}", text.empty() ? "" : ", ", version >> 16,
                        (version >> 8) & 0xff);
  }
  return text;
}

// Returns the rungs that a load can take on this device, if the pack has everything.
std::vector<std::string> rungs(const builder::DeviceInfo &device) {
  std::vector<std::string> names = {"exact"};
  for (const runtime::Rung &rung : runtime::rungs()) {
    if (rung.takes != nullptr && rung.takes(device.capabilities).ok()) {
      names.emplace_back(rung.name);
    }
  }
  return names;
}

json device_json(const builder::DeviceInfo &device) {
  return {{"index", device.index},
          {"label", device.label()},
          {"profile", device.description.profile},
          {"family", device.description.family},
          {"model", device.description.model},
          {"compiler", device.description.compiler},
          {"key", device.description.key.text()},
          {"key_hash", packs::hex64(device.description.key.hash())},
          {"identity", builder::to_json(device.identity)},
          {"capabilities", device.capabilities},
          {"rungs", rungs(device)}};
}

std::string device_text(const builder::DeviceInfo &device) {
  std::string text = fmt::format("{}  {}\n", device.index, device.label());
  text += fmt::format("   profile {}, family {}, model {}\n", device.description.profile,
                      device.description.family.empty() ? "-" : device.description.family,
                      device.description.model.empty() ? "-" : device.description.model);
  const std::string il = il_text(device.capabilities);
  text += fmt::format("   takes binaries{}{}\n", il.empty() ? "" : ", " + il,
                      device.capabilities.compiler ? ", source" : "");
  text += fmt::format("   binary key, key_hash {}:\n", packs::hex64(device.description.key.hash()));
  for (const auto &[name, value] : device.description.key.facts()) {
    text += fmt::format("     {} = {}\n", name, value);
  }
  return text;
}

int run(const std::string &selector, bool as_json) {
  std::vector<std::string> libraries;
  const auto devices = find_devices(selector, &libraries);
  if (!devices.ok()) return fail(devices.status());
  json list = json::array();
  for (const auto &device : *devices) {
    if (as_json) {
      list.push_back(device_json(device));
    } else {
      print(device_text(device));
    }
  }
  if (as_json) print(json{{"schema", 1}, {"devices", list}, {"libraries", libraries}});
  return kDone;
}

}  // namespace

void add_devices(CLI::App &app, Command *command) {
  struct DevicesArguments {
    std::string selector;
    bool json = false;
  };
  auto options = std::make_shared<DevicesArguments>();
  CLI::App *sub = app.add_subcommand(
      "devices", "Show this machine's devices, their identity and what they can load");
  add_device_option(*sub, &options->selector);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(options->selector, options->json); }; });
}

}  // namespace kiln::cli
