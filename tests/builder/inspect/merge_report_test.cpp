// SPDX-License-Identifier: Apache-2.0
#include "builder/inspect/merge_report.hpp"

#include <functional>

#include "tests/packs/sample.hpp"

using namespace kiln;
using namespace kiln::test;
using packs::MergeChoice;
using packs::MergeRule;

namespace {

// "kept", "left_out" and "rule" of the choice when the sample is merged into what `change` makes of
// it.
nlohmann::json choice_after(const std::function<void(packs::Binary *)> &change) {
  Contents other = sample();
  change(&other.targets[1].binaries[1]);
  std::vector<MergeChoice> choices;
  REQUIRE(packs::merge(sample(), &other, &choices).ok());
  REQUIRE(choices.size() == 1);
  return builder::merge_report_json(other, {{"b.kiln", choices[0]}})[0];
}

std::string name_of_blob(const packs::BlobSource &blob) { return packs::hex(blob.name()); }

}  // namespace

TEST_CASE("packs that agree leave nothing to choose", "[merge]") {
  Contents contents = sample();
  std::vector<MergeChoice> choices;
  REQUIRE(packs::merge(sample(), &contents, &choices).ok());
  CHECK(choices.empty());
  CHECK(builder::merge_report_text(contents, {}).empty());
  // Another log is no other binary.
  contents.targets[0].binaries[0].build_log = "another";
  REQUIRE(packs::merge(sample(), &contents, &choices).ok());
  CHECK(choices.empty());
}

TEST_CASE("which binary is kept follows from the rule that is reported", "[merge]") {
  const std::string sample_blob = name_of_blob(sample().targets[1].binaries[1].blob);
  const packs::BlobSource other(noise(20, 99));
  const auto with = [&](packs::Finality finality, const char *driver, const char *finisher) {
    return choice_after([&](packs::Binary *binary) {
      binary->blob = other;
      binary->finish.finality = finality;
      binary->finish.driver = driver;
      binary->finish.finisher = finisher;
    });
  };
  const auto kept_other = [&](const nlohmann::json &choice) {
    CHECK(choice["pack"] == "b.kiln");
    CHECK(choice["pack_kept"] == (choice["kept"] == sample_blob));
    CHECK(choice["target"] == "B200 (driver )");
    CHECK(choice["variant"] == "blur/wide");
    return choice["kept"] == name_of_blob(other) && choice["left_out"] == sample_blob;
  };
  const auto final = with(packs::Finality::yes, "9", "");
  CHECK(final["rule"] == "finality");
  CHECK(kept_other(final));
  const auto newer_driver = with(packs::Finality::not_launched, "580.65", "linker 9");
  CHECK(newer_driver["rule"] == "driver");
  CHECK_FALSE(kept_other(newer_driver));
  const auto finished = with(packs::Finality::not_launched, "", "linker 2, launches 0123");
  CHECK(finished["rule"] == "finisher");
  CHECK(kept_other(finished));
  const auto smaller = with(packs::Finality::not_launched, "", "");
  CHECK(smaller["rule"] == "hash");
  CHECK(kept_other(smaller) == (name_of_blob(other) < sample_blob));
}

TEST_CASE("the newer finisher is known by its version, not by its text", "[merge]") {
  Contents older = sample();
  Contents newer = sample();
  newer.targets[1].binaries[1].blob = packs::BlobSource(noise(20, 99));
  older.targets[1].binaries[1].finish.finisher = "linker 9, launches ffff";
  newer.targets[1].binaries[1].finish.finisher = "linker 10";
  std::vector<MergeChoice> choices;
  REQUIRE(packs::merge(older, &newer, &choices).ok());
  REQUIRE(choices.size() == 1);
  CHECK(choices[0].rule == MergeRule::finisher);
  CHECK_FALSE(choices[0].from_kept);
}

TEST_CASE("members in which packs differ are reported in a line for each variant", "[merge]") {
  Contents a = sample();
  Contents b = sample();
  b.programs[0].preferred = {"scalar"};
  b.programs[0].variants[1].requirements.push_back("proof");
  b.programs[0].variants[1].tolerance = 7;
  std::vector<MergeChoice> choices;
  REQUIRE(packs::merge(b, &a, &choices).ok());
  REQUIRE(choices.size() == 2);
  const builder::MergeReport report{{"b.kiln", choices[0]}, {"b.kiln", choices[1]}};
  CHECK(builder::merge_report_text(a, report) ==
        "blur: b.kiln differs in preferred, which are kept (more hints first)\n"
        "blur/wide: b.kiln differs in requirements, tolerance (the stricter counts)\n");
  CHECK(builder::merge_report_json(a, report)[1] ==
        nlohmann::json{{"part", "members"},
                       {"place", "blur/wide"},
                       {"members", "requirements, tolerance"},
                       {"rule", "stricter"},
                       {"pack", "b.kiln"},
                       {"pack_kept", false}});
}

TEST_CASE("choices are reported in a line each", "[merge]") {
  Contents a = sample();
  Contents b = sample();
  b.targets[1].binaries[1].blob = packs::BlobSource(noise(20, 99));
  b.targets[1].binaries[1].finish.finality = packs::Finality::yes;
  b.targets[0].intermediates[0].blob = packs::BlobSource(noise(20, 98));
  b.targets[0].intermediates[0].finish.driver = "590";
  b.programs[0].variants[0].il64 = packs::BlobSource(noise(48, 97));
  std::vector<MergeChoice> choices;
  REQUIRE(packs::merge(b, &a, &choices).ok());
  builder::MergeReport report;
  for (const MergeChoice &choice : choices) report.push_back({"b.kiln", choice});
  CHECK(builder::merge_report_text(a, report) ==
        "blur/scalar: kept the 64-bit SPIR-V 2af25647d7e37a01 (by the order of variants), left out "
        "39b791a45dcd39cb of b.kiln\n"
        "blur/scalar for A100 (driver ): kept the intermediate b6d2ff655834ab3b (older driver "
        "first), left out a14fe8131af5fa15 of b.kiln\n"
        "blur/wide for B200 (driver ): kept the binary 73fec940babff0d8 of b.kiln (final first), "
        "left out 3990816f765e9ec7\n");
  const auto json = builder::merge_report_json(a, report);
  REQUIRE(json.size() == 3);
  CHECK(json[0]["part"] == "il64");
  CHECK_FALSE(json[0].contains("target"));
}
