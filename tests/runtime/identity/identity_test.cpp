// SPDX-License-Identifier: Apache-2.0
// Identities and binary keys: names, text, differences, distance.
#include "runtime/identity/identity.hpp"

#include <string>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/identities.hpp"

using namespace kiln::runtime;
using namespace kiln::test;

TEST_CASE("every field has a name that leads back to it", "[identity]") {
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const Field field = static_cast<Field>(i);
    CHECK(field_from_name(field_name(field)) == field);
  }
  CHECK_FALSE(field_from_name("profile"));  // a key's own pair has that name
  CHECK_FALSE(field_from_name(""));
}

TEST_CASE("an absent fact is not an empty one", "[identity]") {
  const Identity absent;
  const Identity empty = make({{Field::il_version, ""}});
  CHECK_FALSE(absent[Field::il_version]);
  CHECK(empty[Field::il_version] == std::string());
  CHECK(absent.text(Field::il_version).empty());
  CHECK(key_text_of(absent) == "profile=generic\n");
  CHECK(key_text_of(empty) == "profile=generic\nil_version=\n");
}

TEST_CASE("keys of unlike shape still name the driver version", "[identity]") {
  const Facts pack = key_of(neo_20("Gen9"));
  const Facts device = key_of(neo_22("0x00090000", "22.43.24595"));
  const auto differs = differences(pack, device);
  REQUIRE(differs.size() >= 2);
  CHECK(differs[0].field == "ip_version");
  CHECK_FALSE(differs[0].pack);
  CHECK(differs[0].device == std::string("0x00090000"));
  CHECK(differs[1].field == "driver_version");
  CHECK(differs[1].pack == std::string("1.0.0"));
  CHECK(differs[1].device == std::string("22.43.24595"));
  for (std::size_t i = 2; i < differs.size(); ++i) CHECK_FALSE(differs[i].device);
}

TEST_CASE("long, non-ASCII and NUL-holding strings are kept whole", "[identity]") {
  const std::string strange[] = {std::string(1 << 16, 'x'), "\xff\xfe\x80", "\xe2\x84\xa2 750",
                                 std::string("a\0b", 3), "a\nb\\n=c"};
  for (const char *vendor : {"", "QUALCOMM", "ARM", "Imagination", "Vivante", "NVIDIA",
                             "Advanced Micro Devices", "Intel"}) {
    for (const std::string &text : strange) {
      Identity identity;
      for (std::size_t i = 0; i < kFieldCount; ++i) identity.set(static_cast<Field>(i), text);
      identity.set(Field::device_vendor, vendor);
      const Facts key = key_of(identity);
      CHECK(value(key, "driver_version") == text);
      CHECK(parse_facts(facts_text(key)) == key);
    }
  }
}

TEST_CASE("a key's text reads back as the same key", "[identity]") {
  for (const Row &row : kRows) {
    const Facts key = key_of(identity_of(row));
    CHECK(parse_facts(facts_text(key)) == key);
  }
  const Facts hard = {{"profile", "a\\nb"}, {"model", "\n\\"}, {"compiler", "=="}};
  CHECK(facts_text(hard) == "profile=a\\\\nb\nmodel=\\n\\\\\ncompiler===\n");
  CHECK(parse_facts(facts_text(hard)) == hard);
  CHECK(parse_facts("") == Facts());
}

TEST_CASE("a text that no key writes is refused", "[identity]") {
  const char *bad[] = {"profile", "profile=x", "=x\n",    "\n",      "a=1\na=2\n", "Profile=x\n",
                       "a b=x\n", "a=\\\n",    "a=\\x\n", "a=x\n\n", "a=x\nb",     "a\nb=x\n"};
  for (const char *text : bad) {
    CAPTURE(text);
    CHECK_FALSE(parse_facts(text));
  }
}

TEST_CASE("differences list the device's fields first, then the pack's own", "[identity]") {
  const Facts pack = {{"profile", "x"}, {"old", "1"}, {"both", "2"}};
  const Facts device = {{"profile", "x"}, {"both", ""}, {"fresh", "4"}};
  const auto differs = differences(pack, device);
  REQUIRE(differs.size() == 3);
  CHECK(differs[0].field == "both");
  CHECK(differs[0].pack == std::string("2"));
  CHECK(differs[0].device == std::string());
  CHECK(differs[1].field == "fresh");
  CHECK_FALSE(differs[1].pack);
  CHECK(differs[2].field == "old");
  CHECK_FALSE(differs[2].device);
  CHECK(differences(pack, pack).empty());
}

TEST_CASE("another driver is nearer than another model, and that than another vendor",
          "[identity]") {
  const Facts device = key_of(neo_22("0x00090000", "22.43.24595"));
  const unsigned same = distance(device, device);
  const unsigned driver = distance(key_of(neo_22("0x00090000", "22.40.1")), device);
  const unsigned unsure = distance(key_of(neo_20("Gen9")), device);
  const unsigned model = distance(key_of(neo_22("0x000c0000", "22.43.24595")), device);
  const unsigned vendor = distance(key_of(identity_of(kRows[2])), device);
  CHECK(same == 0);
  CHECK(same < driver);
  CHECK(driver < unsure);
  CHECK(unsure < model);
  CHECK(model < vendor);
  CHECK(distance(device, key_of(neo_22("0x00090000", "22.40.1"))) == driver);
}

TEST_CASE("two ways of counting one IP version are not two models", "[identity]") {
  const Facts device = key_of(neo_22("0x02400009", "24.35.030872"));
  const unsigned older = distance(key_of(neo_22("0x00090000", "22.43.24595")), device);
  const unsigned other = distance(key_of(neo_22("0x02c00000", "24.35.030872")), device);
  const unsigned older_other = distance(key_of(neo_22("0x000b0000", "22.43.24595")), device);
  CHECK(older < other);
  CHECK(older < older_other);
}

TEST_CASE("a driver that writes its version into the device name is the same model", "[identity]") {
  const auto llvmpipe = [](const char *name, const char *vendor, const char *driver) {
    return key_of(make({{Field::platform_name, "rusticl"},
                        {Field::device_name, name},
                        {Field::device_vendor, vendor},
                        {Field::driver_version, driver}}));
  };
  const Facts device = llvmpipe("llvmpipe (LLVM 19.1.7, 256 bits)", "Mesa", "25.0.7");
  const Facts older = llvmpipe("llvmpipe (LLVM 15.0.6, 256 bits)", "Mesa/X.org", "22.3.6");
  const Facts other = llvmpipe("AMD Radeon RX 6600 (radeonsi)", "AMD", "25.0.7");
  CHECK(distance(older, device) < distance(other, device));
}

TEST_CASE("distance orders drivers, models and vendors of phones alike", "[identity]") {
  const auto adreno = [](const char *model, const char *compiler) {
    return key_of(make(
        {{Field::device_name, std::string("QUALCOMM Adreno(TM) ") + model},
         {Field::device_version, std::string("OpenCL 3.0 Adreno(TM) ") + model},
         {Field::driver_version, std::string("OpenCL 3.0 QUALCOMM build: 1 Compiler ") + compiler},
         {Field::extensions_hash, compiler}}));
  };
  const Facts device = adreno("750", "E031.45.02.06");
  const Facts mali_key = key_of(mali("Mali-G610 r0p0", "0xa8670000", "r32p1-01eac0"));
  CHECK(distance(adreno("750", "E031.41.00.00"), device) <
        distance(adreno("740", "E031.45.02.06"), device));
  CHECK(distance(adreno("740", "E031.45.02.06"), device) < distance(mali_key, device));
  const Facts other_mali = key_of(mali("Mali-G710 r0p0", "0xa8620000", "r32p1-01eac0"));
  const Facts old_mali = key_of(mali("Mali-G610 r0p0", "0xa8670000", "g6p0-01eac0"));
  CHECK(distance(old_mali, mali_key) < distance(other_mali, mali_key));
}

TEST_CASE("a fact's name has small letters, digits and _", "[identity]") {
  for (const char *name : {"a", "z", "0", "9", "_", "az_09"}) {
    CAPTURE(name);
    CHECK(parse_facts(std::string(name) + "=x\n") == Facts{{name, "x"}});
  }
  for (const char *name : {"`", "{", "/", ":", "A", "Z", "-", "a b", "\xc3\xa4"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_facts(std::string(name) + "=x\n"));
  }
}

TEST_CASE("an identity's facts are those that the driver reports, in their order", "[identity]") {
  CHECK(Identity().facts().empty());
  const Identity identity = make({{Field::driver_version, "7"}, {Field::device_name, ""}});
  const Facts facts = identity.facts();
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].first == field_name(std::min(Field::driver_version, Field::device_name)));
  CHECK(value(facts, "driver_version") == std::string("7"));
  CHECK(value(facts, "device_name") == std::string());
}
