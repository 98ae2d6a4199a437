// SPDX-License-Identifier: Apache-2.0
// Looks targets up by their keys' hashes; only NVIDIA's devices are compared with other targets.
#include "builder/fleet/report/target_use.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kiln/packs/bytes.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using packs::Contents;

// Returns the hash of the text as JSON prints it: an inventory has replacements for bytes that are
// not UTF-8.
std::uint64_t hash_as_printed(std::string_view text) {
  return packs::xxh3(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
}

class Targets {
 public:
  explicit Targets(const Contents &contents) : contents_(contents) {
    for (std::size_t i = 0; i < contents.targets.size(); ++i) {
      const std::string &key = contents.targets[i].key;
      by_hash_.emplace(packs::xxh3(key), i);
      by_hash_.emplace(hash_as_printed(key), i);
      runtime::Facts facts = runtime::parse_facts(key).value_or(runtime::Facts());
      if (runtime::compute_capability_of(facts) != 0) nvidia_.emplace_back(i, std::move(facts));
    }
  }

  // Adds the targets that the device takes, each with the reason.
  void find(const FleetDevice &device, std::map<std::size_t, std::string> *reasons) const {
    auto own = by_hash_.find(device.key_hash);
    if (own == by_hash_.end() && device.described) {
      own = by_hash_.find(hash_as_printed(device.described->device.key().text()));
    }
    if (own != by_hash_.end()) reasons->emplace(own->second, "exact match");
    if (device.described) find_nvidia(device.described->device.description, reasons);
  }

 private:
  void find_nvidia(const runtime::Description &device,
                   std::map<std::size_t, std::string> *reasons) const {
    const std::uint32_t limit = runtime::compute_capability_of(device.key.facts());
    if (limit == 0) return;
    std::map<packs::Digest, std::pair<std::uint32_t, std::size_t>> best;  // PTX, by variant
    for (const auto &[i, key] : nvidia_) {
      const std::uint32_t made_for = runtime::compute_capability_of(key, device);
      const packs::Target &target = contents_.targets[i];
      if (!target.binaries.empty() && runtime::takes_lower_cubins(limit, made_for)) {
        reasons->emplace(i, runtime::kTakesLowerCubins);
      }
      if (made_for == 0 || made_for > limit) continue;
      for (const packs::Binary &form : target.intermediates) {
        auto &place = best[form.variant];
        if (made_for > place.first) place = {made_for, i};
      }
    }
    for (const auto &form : best) {
      reasons->emplace(form.second.second, "its driver compiles the PTX");
    }
  }

  const Contents &contents_;
  std::map<std::uint64_t, std::size_t> by_hash_;
  std::vector<std::pair<std::size_t, runtime::Facts>> nvidia_;  // keys with a compute capability
};

}  // namespace

InventoryMatch match_inventory(const Contents &contents, const std::vector<FleetDevice> &devices) {
  InventoryMatch match;
  match.uses.resize(contents.targets.size());
  const Targets targets(contents);
  for (const FleetDevice &device : devices) {
    std::map<std::size_t, std::string> reasons;
    targets.find(device, &reasons);
    for (const auto &[i, why] : reasons) match.uses[i].push_back({device.label(), why});
    if (reasons.empty()) match.without.push_back(device.label());
  }
  return match;
}

Cut cut_of(const Contents &contents, const InventoryMatch &match,
           const std::vector<FleetDevice> &devices) {
  Cut cut;
  Cut::Devices &kept = cut.devices.emplace();
  for (const FleetDevice &device : devices) kept.profiles.insert(device.profile);
  kept.profiles.erase("");
  for (std::size_t i = 0; i < match.uses.size(); ++i) {
    if (match.uses[i].empty()) continue;
    kept.keys.insert(contents.targets[i].key);
    kept.profiles.insert(contents.targets[i].profile);
  }
  return cut;
}

}  // namespace kiln::builder
