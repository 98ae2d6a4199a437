#include "compatible.hpp"

#include <cstring>

#include "intel_ip.hpp"
#include "kiln/packs/hash.hpp"
#include "kiln/packs/records.hpp"

namespace kiln::runtime {
namespace {

namespace fb = packs::fb;

const std::string *find(const BinaryKey &key, const char *name) {
  for (const auto &pair : key) {
    if (pair.first == name) return &pair.second;
  }
  return nullptr;
}

bool both_have(const BinaryKey &a, const BinaryKey &b, const char *name) {
  const std::string *of_a = find(a, name);
  const std::string *of_b = find(b, name);
  return of_a != nullptr && of_b != nullptr && *of_a == *of_b;
}

bool has_rule(const Description &device) { return std::strcmp(device.profile, "intel") == 0; }

// The architecture alone would not do: 12 spans cores from Gen12LP to Xe-HPC, which the family
// tells apart.
bool intel_allows(const fb::Section &target, const BinaryKey &target_key,
                  const Description &device) {
  if (!has_rule(device) || device.family.empty()) return false;
  if (device.family != target.family()->c_str()) return false;
  for (const char *fact : {"profile", "driver_version", "address_bits"}) {
    if (!both_have(target_key, device.key, fact)) return false;
  }
  const std::string *target_ip = find(target_key, "ip_version");
  const std::string *device_ip = find(device.key, "ip_version");
  if (target_ip == nullptr || device_ip == nullptr) return false;
  const IntelIp a = parse_intel_ip(*target_ip);
  const IntelIp b = parse_intel_ip(*device_ip);
  return a.newer == b.newer && a.architecture == b.architecture && a.architecture != 0;
}

// Why the target may serve, or null.
const char *reason(const fb::CrossCheck *check, const fb::Section &target, const BinaryKey &key,
                   const Description &device) {
  if (check != nullptr) {
    return packs::is_native(*check) ? "a cross-check found that this device takes its binaries"
                                    : nullptr;
  }
  return intel_allows(target, key, device)
             ? "Intel's driver takes binaries of one family and driver version"
             : nullptr;
}

}  // namespace

std::vector<Candidate> find_compatible(const packs::Pack &pack, const Description &device,
                                       const std::string &key) {
  constexpr unsigned kByRule = 1u << 16;  // more than any distance
  const std::uint64_t hash = packs::xxh3(key.data(), key.size());
  std::vector<Candidate> candidates;
  std::vector<unsigned> ranks;
  if (!has_rule(device) && packs::cross_checks_of(pack.root(), hash).count == 0) return candidates;
  for (std::size_t i = 0; i < pack.target_count(); ++i) {
    const fb::Section *target = nullptr;
    if (!pack.section(i, &target).ok()) continue;
    const std::string text = target->key()->str();
    if (text == key) continue;
    const fb::CrossCheck *check = packs::find_cross_check(
        pack.root(), hash, pack.root().targets()->Get(static_cast<unsigned>(i))->key_hash());
    const BinaryKey target_key = parse_key(text).value_or(BinaryKey());
    const char *why = reason(check, *target, target_key, device);
    if (why == nullptr) continue;
    const unsigned rank = distance(target_key, device.key) + (check == nullptr ? kByRule : 0);
    std::size_t place = ranks.size();
    while (place > 0 && ranks[place - 1] > rank) --place;
    ranks.insert(ranks.begin() + static_cast<std::ptrdiff_t>(place), rank);
    candidates.insert(candidates.begin() + static_cast<std::ptrdiff_t>(place), {i, why});
  }
  return candidates;
}

}  // namespace kiln::runtime
