// SPDX-License-Identifier: Apache-2.0
// Finds the targets and programs that a request names; finds by the loader's rules which targets a
// fleet's devices take; leaves out everything else.
#include "builder/inspect/pack_slice.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "builder/base/names.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/device/device.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::builder {

namespace {

using packs::Contents;
using packs::Target;

std::string key_digits(std::string_view key) { return fmt::format("{:016x}", packs::xxh3(key)); }

bool names_target(const std::string &word, const Target &target) {
  const bool with_prefix = word.size() == 18 && word.starts_with("0x");
  std::string digits = with_prefix ? word.substr(2) : word;
  std::transform(digits.begin(), digits.end(), digits.begin(), packs::lower);
  if (digits == key_digits(target.key) || word == target.key) return true;
  if (glob_match(word, target_label(target))) return true;
  return std::any_of(target.identity.begin(), target.identity.end(), [&](const auto &fact) {
    return (fact.first == "platform_name" || fact.first == "device_name") &&
           glob_match(word, fact.second);
  });
}

// An option that chooses targets by a fact; the error message uses its name if it matches no
// target.
struct TargetOption {
  const char *name;
  const std::vector<std::string> &words;
  std::function<bool(const std::string &word, const Target &target)> matches;
  std::string Target::*
      member;  // the member whose values the message lists; null: it lists the targets
};

// Returns a line for each target: the hash of its key, its label, profile and family.
std::string list_targets(const Contents &contents) {
  std::string text;
  for (const Target &target : contents.targets) {
    const std::string line =
        fmt::format("{}  {}, profile {}{}{}", key_digits(target.key), target_label(target),
                    target.profile, target.family.empty() ? "" : ", family ", target.family);
    text += (text.empty() ? "  " : "\n  ") + printable_line(line);
  }
  return text;
}

Status no_match(const Contents &contents, const TargetOption &option, const std::string &word) {
  if (contents.targets.empty()) return {Code::not_in_pack, "the pack has no targets"};
  if (option.member == nullptr) {
    return {Code::not_in_pack,
            fmt::format("no target matches \"{}\"; there are:\n{}", word, list_targets(contents))};
  }
  std::set<std::string> values;
  for (const Target &target : contents.targets)
    values.insert(printable_line(target.*option.member));
  values.erase("");
  return {Code::not_in_pack, fmt::format("no target has the {} \"{}\": {}", option.name, word,
                                         expected_one_of(word, {values.begin(), values.end()}))};
}

Status choose_targets(const Contents &contents, const TargetOption &option,
                      std::vector<bool> *chosen) {
  if (option.words.empty()) return {};
  std::vector<bool> named(contents.targets.size());
  for (const std::string &word : option.words) {
    bool any = false;
    for (std::size_t i = 0; i < named.size(); ++i) {
      if (!option.matches(word, contents.targets[i])) continue;
      named[i] = true;
      any = true;
    }
    if (!any) return no_match(contents, option, word);
  }
  for (std::size_t i = 0; i < named.size(); ++i) (*chosen)[i] = (*chosen)[i] && named[i];
  return {};
}

Status choose_devices(const Contents &contents, const SliceRequest &request, Cut *cut) {
  const auto is = [](std::string Target::*member) {
    return [member](const std::string &word, const Target &target) {
      return !word.empty() && glob_match(word, target.*member);
    };
  };
  const TargetOption options[] = {
      {"target", request.targets, names_target, nullptr},
      {"family", request.families, is(&Target::family), &Target::family},
      {"profile", request.profiles, is(&Target::profile), &Target::profile}};
  std::vector<bool> chosen(contents.targets.size(), true);
  for (const TargetOption &option : options) {
    if (Status s = choose_targets(contents, option, &chosen); !s.ok()) return s;
  }
  cut->devices.emplace();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) continue;
    cut->devices->keys.insert(contents.targets[i].key);
    cut->devices->profiles.insert(contents.targets[i].profile);
  }
  if (!cut->devices->keys.empty()) return {};
  return {Code::not_in_pack,
          fmt::format("no target matches every option; there are:\n{}", list_targets(contents))};
}

Status choose_programs(const Contents &contents, const std::vector<std::string> &words, Cut *cut) {
  std::vector<std::string> names;
  for (const packs::Program &program : contents.programs) names.push_back(program.name);
  cut->programs.emplace();
  for (const std::string &word : words) {
    if (names.empty()) return {Code::not_in_pack, "the pack has no programs"};
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      return {Code::not_in_pack,
              fmt::format("no program {}: {}", word, expected_one_of(word, names))};
    }
    cut->programs->insert(word);
  }
  return {};
}

void cut_programs(const std::set<std::string> &kept, Contents *contents) {
  std::set<packs::Digest> variants;
  std::erase_if(contents->programs, [&](const auto &p) { return kept.count(p.name) == 0; });
  for (const packs::Program &program : contents->programs) {
    for (const packs::Variant &variant : program.variants) variants.insert(variant.hash);
  }
  const auto other = [&](const packs::Binary &b) { return variants.count(b.variant) == 0; };
  std::erase_if(contents->targets, [&](Target &target) {
    const std::size_t gone =
        std::erase_if(target.binaries, other) + std::erase_if(target.intermediates, other);
    return gone != 0 && target.binaries.empty() && target.intermediates.empty();
  });
  std::erase_if(contents->tunings, [&](const auto &t) { return kept.count(t.program) == 0; });
}

void cut_forms(const Cut &cut, packs::Variant *variant) {
  if (cut.without_source) variant->source.reset();
  if (!cut.without_il) return;
  variant->il32.reset();
  variant->il64.reset();
  variant->il_version = 0;
}

void cut_devices(const Cut::Devices &kept, Contents *contents) {
  std::erase_if(contents->targets,
                [&](const Target &target) { return kept.keys.count(target.key) == 0; });
  std::erase_if(contents->tunings, [&](const packs::Tuning &tuning) {
    return !tuning.profile.empty() && kept.profiles.count(tuning.profile) == 0;
  });
}

using nlohmann::json;

Status bad_inventory(const std::string &name, const std::string &what) {
  return {Code::bad_input,
          fmt::format("{}: {}; an inventory is what 'kiln devices --json' prints", name, what)};
}

// Reads a device's identity. `name` is the inventory's name and the device's place in it.
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

// Returns the text as JSON prints it: the inventory has replacements for bytes that are not UTF-8.
std::string as_printed(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// Returns the compute capability that a target was built for, if the device is of that kind; else
// 0.
std::uint32_t capability_of(const Target &target, const runtime::Description &device) {
  const runtime::Facts key = runtime::parse_facts(target.key).value_or(runtime::Facts());
  return runtime::compute_capability_of(key, device);
}

// Returns, for each target, whether the device loads PTX from it: of a variant's PTX, it loads the
// highest compute capability that it supports.
std::vector<bool> chosen_intermediates(const Contents &contents,
                                       const runtime::Description &device) {
  std::map<packs::Digest, std::pair<std::uint32_t, std::size_t>> best;
  const std::uint32_t limit = runtime::compute_capability_of(device.key.facts());
  for (std::size_t i = 0; i < contents.targets.size(); ++i) {
    const std::uint32_t made_for = capability_of(contents.targets[i], device);
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

// Returns, for each target, why the device takes it; empty if it does not.
std::vector<std::string> reasons_of(const Contents &contents, const runtime::Description &device) {
  std::vector<std::string> reasons(contents.targets.size());
  const std::uint32_t capability = runtime::compute_capability_of(device.key.facts());
  const std::vector<bool> intermediates = chosen_intermediates(contents, device);
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    const Target &target = contents.targets[i];
    if (as_printed(target.key) == as_printed(device.key.text())) {
      reasons[i] = "exact match";
    } else if (!target.binaries.empty() &&
               runtime::takes_lower_cubins(capability, capability_of(target, device))) {
      reasons[i] = runtime::kTakesLowerCubins;
    } else if (intermediates[i]) {
      reasons[i] = "its driver compiles the PTX";
    }
  }
  return reasons;
}

}  // namespace

Contents cut_contents(const Contents &contents, const Cut &cut) {
  Contents result = contents;
  if (cut.devices) cut_devices(*cut.devices, &result);
  if (cut.programs) cut_programs(*cut.programs, &result);
  for (packs::Program &program : result.programs) {
    for (packs::Variant &variant : program.variants) cut_forms(cut, &variant);
  }
  return result;
}

Result<Cut> find_slice(const Contents &contents, const SliceRequest &request) {
  Cut cut;
  if (!request.targets.empty() || !request.families.empty() || !request.profiles.empty()) {
    if (Status s = choose_devices(contents, request, &cut); !s.ok()) return s;
  }
  if (!request.programs.empty()) {
    if (Status s = choose_programs(contents, request.programs, &cut); !s.ok()) return s;
  }
  return cut;
}

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

InventoryMatch match_inventory(const packs::Contents &contents,
                               const std::vector<InventoryDevice> &devices) {
  InventoryMatch match;
  match.uses.resize(contents.targets.size());
  for (const InventoryDevice &device : devices) {
    const auto reasons = reasons_of(contents, device.description);
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
