// SPDX-License-Identifier: Apache-2.0
// Makes descriptions of the identities in JSON, and asks the loader's rules about each target.
#include "builder/inspect/inventory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/device/device.hpp"
#include "runtime/identity/requirements.hpp"
#include "runtime/load/compatible.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

Status bad_inventory(const std::string &name, const std::string &what) {
  return {Code::bad_input,
          fmt::format("{}: {}; an inventory is what 'kiln devices --json' prints", name, what)};
}

// `name` is that of the inventory and the device's place in it.
Status read_identity(const json &device, const std::string &name, runtime::Identity *out) {
  if (!device.is_object() || !device.contains("identity") || !device["identity"].is_object()) {
    return bad_inventory(name, "it has no identity");
  }
  for (const auto &[fact, value] : device["identity"].items()) {
    const auto field = runtime::field_from_name(fact);
    if (!field) {
      return bad_inventory(name, fmt::format("this version does not know the fact {}", fact));
    }
    if (value.is_null()) continue;
    if (!value.is_string()) return bad_inventory(name, fmt::format("{} is not a text", fact));
    out->set(*field, value.get<std::string>());
  }
  return {};
}

Status add_devices_of(const json &list, const std::string &name,
                      std::vector<InventoryDevice> *devices) {
  if (!list.is_object() || !list.contains("devices") || !list["devices"].is_array()) {
    return bad_inventory(name, "expected an object with \"devices\"");
  }
  if (list.value("schema", json()) != json(1)) {
    return bad_inventory(name, "expected \"schema\": 1");
  }
  for (std::size_t i = 0; i < list["devices"].size(); ++i) {
    runtime::Identity identity;
    const std::string place = fmt::format("{}, device {}", name, i);
    if (Status s = read_identity(list["devices"][i], place, &identity); !s.ok()) return s;
    devices->push_back({runtime::device_label(identity.text(runtime::Field::device_name),
                                              identity.text(runtime::Field::driver_version)),
                        runtime::describe(identity)});
  }
  return {};
}

// As JSON has it: bytes that are no UTF-8 were replaced in the inventory.
std::string as_printed(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// Where each target with PTX stands for a device: of a variant's PTX the one of the highest
// capability that the device has is loaded.
std::vector<bool> chosen_intermediates(const packs::Pack &pack, const packs::Contents &contents,
                                       const runtime::Description &device) {
  std::map<packs::Digest, std::pair<std::uint32_t, std::size_t>> best;
  const std::uint32_t limit = runtime::compute_capability_of(device.key.facts());
  for (std::size_t i = 0; i < contents.targets.size(); ++i) {
    packs::TargetRef target;
    if (contents.targets[i].intermediates.empty() || !pack.target(i, &target).ok()) continue;
    const std::uint32_t made_for = runtime::compute_capability_of(target, device);
    if (made_for == 0 || made_for > limit) continue;
    for (const packs::Binary &form : contents.targets[i].intermediates) {
      auto &place = best[form.variant];
      if (made_for > place.first) place = {made_for, i};
    }
  }
  std::vector<bool> chosen(contents.targets.size());
  for (const auto &variant : best) chosen[variant.second.second] = true;
  return chosen;
}

// For each target why the device takes it; empty: it does not, or nothing but a check of the
// application's would tell.
std::vector<std::string> reasons_of(const packs::Pack &pack, const packs::Contents &contents,
                                    const runtime::Description &device) {
  std::vector<std::string> reasons(contents.targets.size());
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    const bool own = as_printed(contents.targets[i].key) == as_printed(device.key.text());
    if (own) reasons[i] = "its binary key is this one";
  }
  for (const runtime::Candidate &candidate : runtime::find_compatible(pack, device)) {
    std::string &reason = reasons[candidate.target];
    if (reason.empty() && !candidate.rule.needs_proof) reason = candidate.rule.why;
  }
  const std::vector<bool> intermediates = chosen_intermediates(pack, contents, device);
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (reasons[i].empty() && intermediates[i]) reasons[i] = "its driver compiles the PTX";
  }
  return reasons;
}

}  // namespace

Result<std::vector<InventoryDevice>> parse_inventory(const std::string &text,
                                                     const std::string &name) {
  const json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return bad_inventory(name, "this is no JSON");
  std::vector<InventoryDevice> devices;
  for (const json &list : parsed.is_array() ? parsed : json::array({parsed})) {
    if (Status s = add_devices_of(list, name, &devices); !s.ok()) return s;
  }
  if (devices.empty()) return bad_inventory(name, "it has no device");
  return devices;
}

Result<std::vector<InventoryDevice>> read_inventory(const std::string &path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Status(Code::bad_input, fmt::format("{}: {}", path, std::strerror(EISDIR)));
  }
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad()) {
    return Status(Code::bad_input, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  return parse_inventory(text, path);
}

InventoryMatch match_inventory(const packs::Pack &pack, const packs::Contents &contents,
                               const std::vector<InventoryDevice> &devices) {
  InventoryMatch match;
  match.uses.resize(contents.targets.size());
  for (const InventoryDevice &device : devices) {
    const auto reasons = reasons_of(pack, contents, device.description);
    bool any = false;
    for (std::size_t i = 0; i < reasons.size(); ++i) {
      if (reasons[i].empty()) continue;
      match.uses[i].push_back({device.label, reasons[i]});
      any = true;
    }
    if (!any) match.without.push_back(device.label);
  }
  return match;
}

Cut cut_of(const packs::Contents &contents, const InventoryMatch &match,
           const std::vector<InventoryDevice> &devices) {
  Cut cut;
  Cut::Devices &kept = cut.devices.emplace();
  for (const InventoryDevice &device : devices) {
    kept.keys.insert(device.description.key.text());
    kept.profiles.insert(device.description.profile);
  }
  for (std::size_t i = 0; i < match.uses.size(); ++i) {
    if (match.uses[i].empty()) continue;
    kept.keys.insert(contents.targets[i].key);
    kept.profiles.insert(contents.targets[i].profile);
  }
  return cut;
}

}  // namespace kiln::builder
