// SPDX-License-Identifier: Apache-2.0
// Lists the targets that a cross-check or the vendor's rule accepts, the nearest first.
#include "runtime/load/compatible.hpp"

#include "kiln/packs/records.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::runtime {
namespace {

using packs::TargetRef;

VendorRule rule_for(packs::CrossCheckRef check, TargetRef target, const Facts &key,
                    const Description &device) {
  if (check) {
    if (!check.is_native()) return {};
    return {"a cross-check found that this device takes its binaries"};
  }
  if (device.accepts_binary_of == nullptr) return {};
  return device.accepts_binary_of(target.family(), key, device);
}

}  // namespace

std::uint32_t compute_capability_of(TargetRef target, const Description &device) {
  const Facts key = parse_facts(target.key()).value_or(Facts());
  return both_have(key, device.key.facts(), "address_bits") ? compute_capability_of(key) : 0;
}

std::vector<Candidate> find_compatible(const packs::Pack &pack, const Description &device) {
  constexpr unsigned kByRule = 1u << 16;  // more than any distance
  const std::uint64_t hash = device.key.hash();
  std::vector<Candidate> candidates;
  std::vector<unsigned> ranks;
  if (device.accepts_binary_of == nullptr && packs::cross_checks_of(pack, hash).count == 0)
    return candidates;
  for (std::size_t i = 0; i < pack.target_count(); ++i) {
    TargetRef target;
    if (!pack.target(i, &target).ok()) continue;
    if (target.key() == device.key.text() && device.finishing != Finishing::linker) continue;
    const packs::CrossCheckRef check = packs::find_cross_check(pack, hash, pack.target_key_hash(i));
    const Facts target_key = parse_facts(target.key()).value_or(Facts());
    const VendorRule rule = rule_for(check, target, target_key, device);
    if (rule.why == nullptr) continue;
    // A driver may silently take code with wider or narrower pointers, as Intel's drivers do.
    if (both_have_and_differ(target_key, device.key.facts(), "address_bits")) continue;
    const unsigned below = check ? 0 : rule.needs_proof ? 2 * kByRule : kByRule;
    const unsigned rank = distance(target_key, device.key.facts()) + below;
    std::size_t place = ranks.size();
    while (place > 0 && ranks[place - 1] > rank) --place;
    ranks.insert(ranks.begin() + static_cast<std::ptrdiff_t>(place), rank);
    candidates.insert(candidates.begin() + static_cast<std::ptrdiff_t>(place), {i, rule});
  }
  return candidates;
}

}  // namespace kiln::runtime
