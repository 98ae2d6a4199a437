// SPDX-License-Identifier: Apache-2.0
#include "builder/jobs/workarounds.hpp"

#include "tests/support/catch.hpp"

using namespace kiln;
using packs::NoteText;

namespace {

packs::Variant built_with(const std::string &options) {
  packs::Variant variant;
  variant.name = "wide";
  variant.options = options;
  variant.source.emplace(packs::Bytes{'s'});
  return variant;
}

builder::DeviceInfo compiling_device(bool takes_il) {
  builder::DeviceInfo info;
  info.capabilities.compiler = true;
  info.capabilities.address_bits = 64;
  if (takes_il) info.capabilities.il_versions = {0x00010000};
  return info;
}

// The name and options of each.
std::vector<std::string> names_of(const packs::Variant &variant, bool takes_il = false) {
  std::vector<std::string> names;
  for (const auto &one : builder::workarounds_for(variant, compiling_device(takes_il))) {
    CHECK(one.variant.name == variant.name);
    names.push_back(one.name + ": " + one.variant.options);
  }
  return names;
}

}  // namespace

TEST_CASE("workarounds have one option more or less than the variant") {
  using Names = std::vector<std::string>;
  CHECK(names_of(built_with("")) == Names{"-cl-opt-disable: -cl-opt-disable"});
  CHECK(names_of(built_with("-cl-std=CL2.0 -DA")) ==
        Names{"-cl-opt-disable: -cl-std=CL2.0 -DA -cl-opt-disable",
              "-cl-std=CL1.2: -cl-std=CL1.2 -DA"});
  CHECK(names_of(built_with("-cl-mad-enable -cl-fast-relaxed-math")) ==
        Names{"without -cl-fast-relaxed-math: -cl-mad-enable",
              "without -cl-mad-enable: -cl-fast-relaxed-math",
              "-cl-opt-disable: -cl-mad-enable -cl-fast-relaxed-math -cl-opt-disable"});
  CHECK(names_of(built_with("-cl-opt-disable -cl-std=CL1.2")).empty());
  CHECK(names_of(built_with("-cl-std=CL3.0 -cl-opt-disable")) ==
        Names{"-cl-std=CL2.0: -cl-std=CL2.0 -cl-opt-disable"});
}

TEST_CASE("the manifest's workarounds come first, and SPIR-V last, for a device that takes it") {
  packs::Variant one = built_with("-DA");
  one.workarounds = {"-DSAFE", "-DB -DC"};
  const std::vector<std::string> by_options = {"-DSAFE: -DA -DSAFE", "-DB -DC: -DA -DB -DC",
                                               "-cl-opt-disable: -DA -cl-opt-disable"};
  CHECK(names_of(one, true) == by_options);  // there is none
  one.il64.emplace(packs::Bytes{'i'});
  CHECK(names_of(one, false) == by_options);
  const auto all = builder::workarounds_for(one, compiling_device(true));
  REQUIRE(all.size() == 4);
  CHECK(all[3].name == "SPIR-V instead of source");
  CHECK(!all[3].variant.source);
  CHECK(all[3].is_il);
  CHECK(all[3].is_other_text);
  CHECK(all[0].is_other_text);
  CHECK(!all[2].is_other_text);
}

TEST_CASE("a note names the variant, the device and the driver's version alone") {
  const packs::Program program{"blur", "", {built_with("")}};
  builder::DeviceInfo info = compiling_device(false);
  info.identity.set(runtime::Field::driver_version, "38");
  info.description.profile = "adreno";
  const packs::KnownBad note =
      builder::found_note(program, program.variants[0], info, /*il_is_right=*/false);
  CHECK(packs::is_found(note.rungs));
  CHECK(note[NoteText::variant] == "wide");
  CHECK(note[NoteText::driver_from] == "38");
  CHECK(note[NoteText::driver_below] == "38.1");
}
