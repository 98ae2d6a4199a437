// SPDX-License-Identifier: Apache-2.0
// The choice of a variant as an application meets it: flags, reports, prefetching.
#include "kiln/packs/bytes.hpp"
#include "tests/runtime/fake/load.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

// Program p with variants v and w; v is measured the faster of them for large problems, and w
// for small ones.
packs::Contents measured_contents() {
  packs::Contents contents = fake_contents();
  packs::Variant w = contents.programs[0].variants[0];
  w.name = "w";
  w.hash[0] = 2;
  contents.programs[0].variants.push_back(w);
  const std::string &key = contents.targets[0].key;
  for (const auto &[variant, small, large] :
       {std::tuple("v", 200'000u, 810'000u), std::tuple("w", 100'000u, 900'000u)}) {
    packs::Tuning tuning;
    tuning.program = "p";
    tuning.variant = variant;
    tuning.profile = "generic";
    tuning.key_hash = packs::xxh3(key.data(), key.size());
    tuning.size_class = packs::SizeClass::small;
    tuning.nanoseconds = small;
    contents.tunings.push_back(tuning);
    tuning.size_class = packs::SizeClass::large;
    tuning.nanoseconds = large;
    contents.tunings.push_back(tuning);
  }
  return contents;
}

struct Chosen {
  cl_program program = nullptr;
  std::string variant;
  std::string reason;
  kiln_choice by = KILN_CHOICE_ORDER;
};

// What the report's JSON says after `name`: "w" of  "variant": "w".
std::string member(const std::string &json, const std::string &name) {
  const std::size_t begin = json.find("\"" + name + "\": ") + name.size() + 4;
  const char end = json[begin] == '{' ? '}' : ',';
  return json.substr(begin, json.find(end, begin) - begin + (end == '}' ? 1 : 0));
}

Chosen load_more(const FakeLoad &load, const char *variant, unsigned flags) {
  Chosen chosen;
  kiln_program *program = nullptr;
  kiln_report *report = nullptr;
  REQUIRE(kiln_load(load.loader, "p", variant, flags, &program, &report, nullptr) == KILN_OK);
  chosen.program = kiln_program_cl(program);
  chosen.variant = member(kiln_report_json(report), "variant");
  chosen.reason = kiln_report_choice(report, &chosen.by);
  kiln_program_release(program);
  kiln_report_release(report);
  return chosen;
}

constexpr char kForLarge[] =
    "measured the fastest of 2 on this device for large problems: 0.810 ms";
constexpr char kForSmall[] =
    "measured the fastest of 2 on this device for small problems: 0.100 ms";

}  // namespace

TEST_CASE("a load takes the variant that was measured the fastest for its problems", "[choice]") {
  reset_fake();
  const FakeLoad load(written(measured_contents()));
  REQUIRE(load.status == KILN_OK);
  const Chosen large = load_more(load, nullptr, 0);
  CHECK(large.variant == "\"v\"");
  CHECK(large.reason == kForLarge);
  CHECK(large.by == KILN_CHOICE_MEASUREMENT);
  const Chosen small = load_more(load, nullptr, KILN_LOAD_FOR_SMALL);
  CHECK(small.variant == "\"w\"");
  CHECK(small.reason == kForSmall);
  const Chosen medium = load_more(load, nullptr, KILN_LOAD_FOR_MEDIUM);
  CHECK(medium.reason == kForSmall);  // there are no times of that class
  CHECK(medium.program == small.program);
}

TEST_CASE("a variant that is chosen in several ways is loaded once, each with its reason",
          "[choice]") {
  reset_fake();
  {
    packs::Contents contents = measured_contents();
    contents.tunings.resize(2);  // v alone
    const FakeLoad load(written(contents), KILN_LOAD_NO_BINARY | KILN_LOAD_NO_IL);
    const unsigned flags = KILN_LOAD_NO_BINARY | KILN_LOAD_NO_IL;
    const Chosen large = load_more(load, nullptr, flags);
    const Chosen small = load_more(load, nullptr, flags | KILN_LOAD_FOR_SMALL);
    const Chosen named = load_more(load, "v", flags | KILN_LOAD_FOR_MEDIUM);
    CHECK(fake().source.builds == 1);
    CHECK(small.program == large.program);
    CHECK(named.program == large.program);
    CHECK(large.reason == "the only one measured on this device for large problems: 0.810 ms");
    CHECK(small.reason == "the only one measured on this device for small problems: 0.200 ms");
    CHECK(named.reason == "asked for by name");
    CHECK(named.by == KILN_CHOICE_NAME);
  }
  CHECK(fake().live == 0);
}

TEST_CASE("the report's JSON says by what the variant was chosen", "[choice]") {
  reset_fake();
  const auto choice = [](const packs::Contents &contents, const char *variant = nullptr) {
    return member(FakeLoad(written(contents), 0, "p", variant).json(), "choice");
  };
  packs::Contents contents = measured_contents();
  CHECK(choice(contents) == std::string("{\"by\": \"measurement\", \"reason\": \"") + kForLarge +
                                "\", \"level\": \"device\", \"size_class\": \"large\", "
                                "\"nanoseconds\": 810000}");
  CHECK(choice(contents, "w") == "{\"by\": \"name\", \"reason\": \"asked for by name\"}");
  CHECK(choice(contents, "gone") == "null");
  contents.tunings.clear();
  CHECK(choice(contents) == "{\"by\": \"order\", \"reason\": \"first by name\"}");
  contents.programs[0].preferred = {"w"};
  CHECK(choice(contents) == "{\"by\": \"preference\", \"reason\": \"preferred by the pack\"}");
}

TEST_CASE("a load that finds no variant has no choice to tell of", "[choice]") {
  reset_fake();
  const FakeLoad load(written(measured_contents()), 0, "p", "gone");
  kiln_choice by = KILN_CHOICE_PREFERENCE;
  CHECK(load.status == KILN_ERROR_NOT_IN_PACK);
  CHECK(kiln_report_choice(load.report, &by) == nullptr);
  CHECK(by == KILN_CHOICE_PREFERENCE);
}

TEST_CASE("flags that name two size classes, or unknown ones, are refused", "[choice]") {
  reset_fake();
  const FakeLoad load(written(measured_contents()));
  kiln_program *program = nullptr;
  kiln_error error{};
  const unsigned both = KILN_LOAD_FOR_SMALL | KILN_LOAD_FOR_MEDIUM;
  CHECK(kiln_load(load.loader, "p", nullptr, both, &program, nullptr, &error) ==
        KILN_ERROR_ARGUMENT);
  CHECK(error.message == std::string("kiln_load: flags name two size classes"));
  CHECK(kiln_prefetch(load.loader, nullptr, 0, both, nullptr, nullptr, &error) ==
        KILN_ERROR_ARGUMENT);
  CHECK(error.message == std::string("kiln_prefetch: flags name two size classes"));
  CHECK(kiln_load(load.loader, "p", nullptr, 1u << 30, &program, nullptr, &error) ==
        KILN_ERROR_ARGUMENT);
  CHECK(error.message == std::string("kiln_load: unknown bits in flags"));
  CHECK(program == nullptr);
}

TEST_CASE("a prefetch loads what a load of the same flags takes", "[choice]") {
  reset_fake();
  const FakeLoad load(written(measured_contents()), 0, "p", "v");
  std::vector<std::string> reasons;
  const auto add = [](const kiln_progress *progress, void *user) {
    const char *reason = kiln_report_choice(progress->report, nullptr);
    static_cast<std::vector<std::string> *>(user)->push_back(reason == nullptr ? "-" : reason);
    return 0;
  };
  CHECK(kiln_prefetch(load.loader, nullptr, 0, KILN_LOAD_FOR_SMALL, add, &reasons, nullptr) ==
        KILN_OK);
  CHECK(reasons == std::vector<std::string>{kForSmall});
  const unsigned built = fake().binary.builds + fake().il.builds;
  CHECK(load_more(load, nullptr, KILN_LOAD_FOR_SMALL).variant == "\"w\"");
  CHECK(fake().binary.builds + fake().il.builds == built);
}
