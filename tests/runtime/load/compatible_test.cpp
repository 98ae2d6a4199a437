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
  bool needs_proof = false;
  bool operator==(const Served &) const = default;
};

std::vector<Served> found_in(const PackPointer &pack, const Identity &device) {
  std::vector<Served> served;
  for (const Candidate &candidate : find_compatible(*pack, describe(device))) {
    kiln::packs::TargetRef section;
    REQUIRE(pack->target(candidate.target, &section).ok());
    const VendorRule &rule = candidate.rule;
    const bool by_record = mentions(rule.why, "cross-check");
    CHECK(by_record != (mentions(rule.why, "Intel") || mentions(rule.why, "Adreno")));
    served.push_back({std::string(section.key()), by_record, rule.needs_proof});
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
Served candidate(const Identity &target) { return {key_text_of(target), false, true}; }
using Several = std::vector<Served>;

Identity adreno(const std::string &model, const std::string &compiler) {
  return make({{Field::platform_name, "QUALCOMM Snapdragon(TM)"},
               {Field::device_name, "QUALCOMM Adreno(TM) " + model},
               {Field::device_vendor, "QUALCOMM"},
               {Field::device_version, "OpenCL 3.0 Adreno(TM) " + model},
               {Field::address_bits, "64"},
               {Field::driver_version, "OpenCL 3.0 QUALCOMM build: x Compiler " + compiler}});
}

// Whether the rule that speaks for the target takes a binary that begins so.
bool takes(const Identity &device, const Identity &target, const std::string &binary) {
  const std::string key = key_text_of(target);
  const Description description = describe(device);
  const VendorRule rule =
      description.accepts_binary_of(describe(target).family, *parse_facts(key), description);
  REQUIRE(rule.why != nullptr);
  return rule.takes == nullptr || rule.takes(binary);
}

// The first bytes of an ELF file: its class, its byte order and its machine.
std::string elf(char bits, char order, unsigned machine) {
  std::string text("\177ELF", 4);
  text += {bits, order, 1};
  text.resize(18);
  text += {static_cast<char>(machine & 255), static_cast<char>(machine >> 8)};
  return text;
}

const Identity kTgllp = neo_22("0x000c0000", kDriver);
const Identity kDg1 = neo_22("0x000c0001", kDriver);

}  // namespace

TEST_CASE("Intel's targets of one family and driver serve each other", "[compatible]") {
  CHECK(found(kDg1, {kTgllp}) == Several{by_rule(kTgllp)});
  CHECK(found(kTgllp, {kDg1}) == Several{by_rule(kDg1)});
  const Identity release = neo_22("0x000c0100", kDriver);
  CHECK(found(kTgllp, {release}) == Several{by_rule(release)});
}

TEST_CASE("Intel's rule ends at the architecture, the family and the address bits",
          "[compatible]") {
  CHECK(found(kDg1, {neo_22("0x000b0000", kDriver)}).empty());
  CHECK(found(kDg1, {neo_22("0x000c0700", kDriver)}).empty());  // Xe-HPG, architecture 12 too
  CHECK(found(kDg1, {bits32(kTgllp)}).empty());
  CHECK(found(kDg1, {mali_710()}).empty());
  CHECK(found(mali_710(), {kTgllp}).empty());
  CHECK(found(kDg1, {}).empty());
}

TEST_CASE("of other versions of Intel's driver the same product is a candidate, newer or older",
          "[compatible]") {
  const Identity newer = neo_22("0x000c0001", "22.43.24595.36");
  CHECK(found(kDg1, {newer}) == Several{candidate(newer)});
  CHECK(found(newer, {kDg1}) == Several{candidate(kDg1)});
  CHECK(found(kDg1, {neo_22("0x000c0000", "22.43.24595.36")}).empty());  // another product
  CHECK(found(kDg1, {bits32(newer)}).empty());
  // Of the newer IP versions architecture and release name the product, the revision does not.
  const Identity kbl = neo_22("0x02404009", "24.35.030872");
  const Identity kbl_later = neo_22("0x0240400a", "25.1");
  CHECK(found(kbl, {kbl_later}) == Several{candidate(kbl_later)});
  CHECK(found(kbl, {neo_22("0x02400009", "25.1")}).empty());
  // Two ways of counting do not tell a family's products apart.
  const Identity skl = neo_22("0x00090000", kDriver);
  CHECK(found(kbl, {skl}) == Several{candidate(skl)});
  CHECK(found(skl, {kbl}) == Several{candidate(kbl)});
  CHECK(found(skl, {neo_22("0x02c00000", "24.35.030872")}).empty());
}

TEST_CASE("Intel's rules tell zebins from patch tokens by the ELF header alone", "[compatible]") {
  const Identity newer = neo_22("0x000c0001", "23.1");
  const std::string zebin = elf(2, 1, 205);
  const std::string tokens = elf(2, 1, 0);
  CHECK(takes(kDg1, newer, zebin));
  CHECK(takes(kDg1, newer, zebin + "and more"));
  for (const std::string &other :
       {tokens, elf(1, 1, 205), elf(2, 2, 205), elf(2, 1, 205 + 256), elf(2, 1, 190),
        zebin.substr(0, 19), zebin.substr(0, 4), std::string(), std::string(100, 'x')}) {
    CHECK_FALSE(takes(kDg1, newer, other));
  }
  // Of its own version a driver takes another product's patch tokens, and no zebin of it.
  CHECK(takes(kDg1, kTgllp, tokens));
  CHECK_FALSE(takes(kDg1, kTgllp, zebin));
  const Identity revision = neo_22("0x02404009", kDriver);
  CHECK(takes(neo_22("0x0240400a", kDriver), revision, zebin));
  CHECK(takes(neo_22("0x0240400a", kDriver), revision, tokens));
}

TEST_CASE("an Adreno's candidates are of the same model, by a compiler that is not newer",
          "[compatible]") {
  const Identity device = adreno("750", "E031.45.02.06");
  const Identity older = adreno("750", "E031.41.03.60");
  Identity same = device;
  same.set(Field::platform_version, "OpenCL 3.0 of another build of Android");
  CHECK(found(device, {older, same}) == Several{candidate(same), candidate(older)});
  CHECK(found(older, {device}).empty());
  CHECK(found(device, {adreno("740", "E031.41.03.60")}).empty());
  CHECK(found(device, {bits32(older)}).empty());
  CHECK(found(device, {kDg1, mali_710()}).empty());
  Identity silent = older;  // names no compiler
  silent.set(Field::driver_version, "OpenCL 3.0");
  CHECK(found(device, {silent}).empty());
  CHECK(found(silent, {older}).empty());
  CHECK(found(device, {older}, {record(device, older, CrossResult::native)}) ==
        Several{recorded(older)});
  CHECK(found(device, {older}, {record(device, older, CrossResult::recompiled)}).empty());
}

TEST_CASE("a candidate comes after what a rule allows, however near it is", "[compatible]") {
  const Identity near = neo_22("0x000c0001", "22.43.24595.36");
  CHECK(found(kDg1, {near, kTgllp}) == Several{by_rule(kTgllp), candidate(near)});
}

TEST_CASE("other address bits never serve, whatever a record says", "[compatible]") {
  const Identity narrow = bits32(kTgllp);
  CHECK(found(kDg1, {narrow}, {record(kDg1, narrow, CrossResult::native)}).empty());
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
