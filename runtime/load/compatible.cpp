#include "runtime/load/compatible.hpp"

#include <cstring>

#include "kiln/packs/hash.hpp"
#include "kiln/packs/records.hpp"
#include "runtime/identity/intel_ip.hpp"
#include "runtime/identity/requirements.hpp"

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

bool is_intel(const Description &device) { return std::strcmp(device.profile, "intel") == 0; }
bool is_nvidia(const Description &device) { return device.finishing == Finishing::linker; }
bool has_rule(const Description &device) { return is_intel(device) || is_nvidia(device); }

// The architecture alone would not do: 12 spans cores from Gen12LP to Xe-HPC, which the family
// tells apart.
bool intel_allows(const fb::Section &target, const BinaryKey &target_key,
                  const Description &device) {
  if (!is_intel(device) || device.family.empty()) return false;
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

std::uint32_t capability_of(const BinaryKey &key) {
  const std::string *text = find(key, "compute_capability");
  return text == nullptr ? 0 : parse_compute_capability(*text);
}

// One major version, and none of the minor ones that came after the device's.
bool nvidia_allows(const BinaryKey &target_key, const Description &device) {
  if (!is_nvidia(device) || !both_have(target_key, device.key, "address_bits")) return false;
  const std::uint32_t target = capability_of(target_key);
  const std::uint32_t has = capability_of(device.key);
  return target != 0 && target / 100 == has / 100 && target <= has;
}

// Why the target may serve, or null.
const char *reason(const fb::CrossCheck *check, const fb::Section &target, const BinaryKey &key,
                   const Description &device) {
  if (check != nullptr) {
    return packs::is_native(*check) ? "a cross-check found that this device takes its binaries"
                                    : nullptr;
  }
  if (nvidia_allows(key, device)) {
    return capability_of(key) == capability_of(device.key)
               ? "a driver may take what a later one made"
               : "NVIDIA's GPUs take code for lower minor compute capabilities";
  }
  return intel_allows(target, key, device)
             ? "Intel's driver takes binaries of one family and driver version"
             : nullptr;
}

}  // namespace

std::uint32_t compute_capability_of(const fb::Section &target, const Description &device) {
  const BinaryKey key = parse_key(target.key()->str()).value_or(BinaryKey());
  return both_have(key, device.key, "address_bits") ? capability_of(key) : 0;
}

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
    if (text == key && !is_nvidia(device)) continue;
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
