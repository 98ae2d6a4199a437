// SPDX-License-Identifier: Apache-2.0
// Targets that may serve a device with another key: recorded ones and Intel's rule.
#include "runtime/load/compatible.hpp"

#include "tests/packs/forge.hpp"
#include "tests/support/identities.hpp"

using namespace kiln::runtime;
using namespace kiln::test;
using kiln::packs::CrossResult;

namespace {

constexpr char kDriver[] = "22.43.24595.35";

Identity bits32(Identity identity) {
  identity.set(Field::address_bits, "32");
  return identity;
}

Identity mali_710() {
  return mali("Mali-G710 r0p0", "0xa8620000", "r51p0-00eac0.0123456789abcdef0123456789abcdef");
}

std::uint64_t hash_of_key(const Identity &identity) { return describe(identity).key.hash(); }

kiln::packs::Target target_of(const Identity &identity) {
  const Description description = describe(identity);
  return {description.key.text(),
          description.profile,
          description.family,
          description.model,
          description.compiler,
          {},
          {}};
}

kiln::packs::CrossCheck record(const Identity &device, const Identity &target, CrossResult result) {
  return {hash_of_key(device), hash_of_key(target), static_cast<std::uint32_t>(result)};
}

struct Served {
  std::string key;
  bool by_record;
  bool operator==(const Served &) const = default;
};

std::vector<Served> found_in(const PackPointer &pack, const Identity &device) {
  std::vector<Served> served;
  for (const Candidate &candidate : find_compatible(*pack, describe(device))) {
    kiln::packs::TargetRef section;
    REQUIRE(pack->target(candidate.target, &section).ok());
    const bool by_record = mentions(candidate.why, "cross-check");
    CHECK(by_record != mentions(candidate.why, "Intel"));
    served.push_back({std::string(section.key()), by_record});
  }
  return served;
}

// What may serve `device` from a pack of these targets and records.
std::vector<Served> found(const Identity &device, const std::vector<Identity> &targets,
                          std::vector<kiln::packs::CrossCheck> records = {}) {
  Contents contents;
  for (const Identity &target : targets) contents.targets.push_back(target_of(target));
  contents.cross_checks = std::move(records);
  const Bytes bytes = written(contents);
  return found_in(opened(bytes), device);
}

Served recorded(const Identity &target) { return {key_text_of(target), true}; }
Served by_rule(const Identity &target) { return {key_text_of(target), false}; }
using Several = std::vector<Served>;

const Identity kTgllp = neo_22("0x000c0000", kDriver);
const Identity kDg1 = neo_22("0x000c0001", kDriver);

}  // namespace

TEST_CASE("Intel's targets of one family and driver serve each other", "[compatible]") {
  CHECK(found(kDg1, {kTgllp}) == Several{by_rule(kTgllp)});
  CHECK(found(kTgllp, {kDg1}) == Several{by_rule(kDg1)});
  const Identity release = neo_22("0x000c0100", kDriver);
  CHECK(found(kTgllp, {release}) == Several{by_rule(release)});
}

TEST_CASE("Intel's rule ends at the driver, the architecture, the family and the address bits",
          "[compatible]") {
  CHECK(found(kDg1, {neo_22("0x000c0000", "22.43.24595.36")}).empty());
  CHECK(found(kDg1, {neo_22("0x000b0000", kDriver)}).empty());
  CHECK(found(kDg1, {neo_22("0x000c0700", kDriver)}).empty());  // Xe-HPG, architecture 12 too
  CHECK(found(kDg1, {bits32(kTgllp)}).empty());
  CHECK(found(kDg1, {mali_710()}).empty());
  CHECK(found(mali_710(), {kTgllp}).empty());
  CHECK(found(kDg1, {}).empty());
}

TEST_CASE("IP versions that are counted in two ways are not compared", "[compatible]") {
  // One GPU as two drivers count it, under one driver version.
  CHECK(found(neo_22("0x00090000", kDriver), {neo_22("0x02400009", kDriver)}).empty());
  const Identity newer = neo_22("0x02404009", kDriver);
  CHECK(found(neo_22("0x02400009", kDriver), {newer}) == Several{by_rule(newer)});
}

TEST_CASE("Intel devices of unknown architecture or without an IP version have no rule",
          "[compatible]") {
  CHECK(found(neo_22("0x00630000", kDriver), {neo_22("0x00630001", kDriver)}).empty());
  CHECK(found(neo_22("junk", kDriver), {neo_22("more junk", kDriver)}).empty());
  Identity other = neo_20("Gen9");
  other.set(Field::device_vendor_id, "0x8086");
  CHECK(found(neo_20("Gen9"), {other}).empty());
}

TEST_CASE("the device's own target is the exact rung's", "[compatible]") {
  CHECK(found(kDg1, {kDg1}).empty());
  CHECK(found(kDg1, {kDg1}, {record(kDg1, kDg1, CrossResult::native)}).empty());
}

TEST_CASE("a target that a cross-check found native serves, whatever its vendor", "[compatible]") {
  const Identity other =
      mali("Mali-G710 r0p0", "0xa8620000", "r52p0-00eac0.0123456789abcdef0123456789abcdef");
  CHECK(found(mali_710(), {other}).empty());
  CHECK(found(mali_710(), {other, kDg1}, {record(mali_710(), other, CrossResult::native)}) ==
        Several{recorded(other)});
  // A record is of one device and one direction.
  CHECK(found(other, {mali_710()}, {record(mali_710(), other, CrossResult::native)}).empty());
}

TEST_CASE("a record that says anything but native takes a target off the rule's list",
          "[compatible]") {
  for (const auto result : {CrossResult::recompiled, CrossResult::refused, CrossResult::crashed,
                            CrossResult::wrong, static_cast<CrossResult>(77)}) {
    CHECK(found(kDg1, {kTgllp}, {record(kDg1, kTgllp, result)}).empty());
  }
  CHECK(found(kDg1, {kTgllp}, {record(kTgllp, kDg1, CrossResult::refused)}) ==
        Several{by_rule(kTgllp)});
  CHECK(found(kDg1, {kTgllp}, {record(kDg1, kTgllp, CrossResult::native)}) ==
        Several{recorded(kTgllp)});
}

TEST_CASE("what was recorded comes before what a rule allows", "[compatible]") {
  const Identity icllp = neo_22("0x000b0000", kDriver);
  const std::vector<kiln::packs::CrossCheck> records{record(kDg1, icllp, CrossResult::native)};
  const Several expected{recorded(icllp), by_rule(kTgllp)};
  CHECK(found(kDg1, {kTgllp, icllp}, records) == expected);
  CHECK(found(kDg1, {icllp, kTgllp}, records) == expected);
}

TEST_CASE("of several recorded targets the nearest comes first", "[compatible]") {
  const Identity older = neo_22("0x000c0001", "22.30.1");  // this very model
  const Identity icllp = neo_22("0x000b0000", kDriver);
  CHECK(
      found(kDg1, {icllp, older},
            {record(kDg1, icllp, CrossResult::native), record(kDg1, older, CrossResult::native)}) ==
      Several{recorded(older), recorded(icllp)});
}

TEST_CASE("a damaged section or a key that cannot be read is no candidate", "[compatible]") {
  Contents contents;
  contents.targets = {target_of(kTgllp)};
  Bytes bytes = written(contents);
  const std::uint64_t place = opened(bytes)->schema().targets()->Get(0)->offset();
  CHECK(found_in(opened(bytes), kDg1).size() == 1);
  bytes[place + 40] ^= 1;
  CHECK(found_in(opened(bytes), kDg1).empty());

  ForgedSection section;
  section.key = "no line at all";
  Forge forge;
  ForgedRoot root;
  root.targets = {forge.section(section)};
  const Bytes forged = forge.finish(root);
  CHECK(found_in(opened(forged), kDg1).empty());
}
