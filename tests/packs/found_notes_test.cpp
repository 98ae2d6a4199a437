// SPDX-License-Identifier: Apache-2.0
// Notes of what builds found: about a text, and withdrawn only by who compared as much.
#include "kiln/packs/found_notes.hpp"
#include "tests/packs/merging.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

// The variants of a program, and a target with binaries of driver 38.
struct OfText {
  std::vector<std::pair<std::string, std::string>> variants{};  // program and name, of one text
  std::string reference{};
  std::vector<std::pair<const char *, const char *>> binaries{};  // proof and workaround
  bool has_note = false;                                          // about the first variant
  const char *driver = "38";
};

Contents contents_with(const OfText &side) {
  Contents contents;
  for (const auto &[program, name] : side.variants) {
    auto place = std::find_if(contents.programs.begin(), contents.programs.end(),
                              [&](const Program &p) { return p.name == program; });
    if (place == contents.programs.end()) {
      place = contents.programs.insert(place, Program{program, side.reference, {}});
    }
    place->variants.push_back(variant("same", "one text"));
    place->variants.back().name = name;
  }
  Target made = target("X");
  made.identity.emplace_back("driver_version", side.driver);
  for (const auto &[proof, workaround] : side.binaries) {
    made.binaries.push_back(binary(variant("same", "one text"),
                                   noise(70, static_cast<std::uint32_t>(made.binaries.size()) +
                                                 (*workaround == '\0' ? 1u : 100u))));
    made.binaries.back().finish.proof = proof;
    made.binaries.back().finish.workaround = workaround;
  }
  if (!made.binaries.empty()) contents.targets = {made};
  if (side.has_note) {
    KnownBad note{{side.variants[0].first, side.variants[0].second}, kFoundByBuild | 16};
    note[NoteText::profile] = "test";
    note[NoteText::driver_from] = "38";
    note[NoteText::driver_below] = "38.1";
    note[NoteText::reason] = "wrong sums";
    contents.known_bad = {note};
  }
  return contents;
}

std::vector<std::string> notes_of(const Contents &contents) {
  std::vector<std::string> names;
  for (const KnownBad &note : contents.known_bad) {
    names.push_back(note[NoteText::program] + "/" + note[NoteText::variant]);
  }
  return names;
}

constexpr char kBySource[] = "the program built from source, 64x64";
constexpr char kByReference[] = "library:libr.so:f, 64x64";

}  // namespace

TEST_CASE("a note of what a build found is about every variant of the text", "[merge]") {
  const std::vector<std::string> all = {"blur/fast", "blur/quick", "soften/fast"};
  const Bytes then = written(contents_with({{{"blur", "fast"}}, "", {}, true}));
  const Bytes now = written(contents_with({{{"blur", "quick"}, {"soften", "fast"}}}));
  CHECK(notes_of(contents_of(opened(merged({then, now})))) == all);
  CHECK(notes_of(contents_of(opened(merged({now, then})))) == all);
  const Bytes twice = written(contents_with({{{"blur", "fast"}, {"blur", "quick"}}, "", {}, true}));
  check_any_order(then, now, twice);
}

TEST_CASE("what a build found is kept by the text's hash until somebody judged the text") {
  const Contents earlier = contents_with({{{"blur", "fast"}}, "", {}, true});
  const Contents renamed = contents_with({{{"soften", "quick"}}});
  const auto kept = [&](const std::vector<Judged> &judged, Contents now) {
    keep_found(earlier, judged, &now);
    return notes_of(now);
  };
  CHECK(kept({}, earlier) == std::vector<std::string>{"blur/fast"});
  CHECK(kept({}, renamed) == std::vector<std::string>{"soften/quick"});
  Judged judged{earlier.programs[0].variants[0].hash, earlier.known_bad[0]};
  judged.note[NoteText::program] = "soften";
  judged.note[NoteText::variant] = "quick";
  judged.note[NoteText::reason].clear();
  judged.note.rungs |= 8;
  CHECK(kept({judged}, renamed).empty());
  CHECK(kept({judged}, earlier).size() == 1);  // the contents have the note itself
  judged.note[NoteText::driver_from] = "41";
  CHECK(kept({judged}, renamed).size() == 1);
  Contents other = renamed;
  other.programs[0].variants[0].hash[0] ^= 1;
  CHECK(kept({}, other).empty());
}

TEST_CASE("a merge leaves out a binary that a build found wrong by comparing more", "[merge]") {
  struct Row {
    const char *what;
    const char *reference;
    const char *proof;
    const char *driver;
    bool stays;
  };
  const Row rows[] = {
      {"compared with the program built from source alone", "library:libr.so:f", kBySource, "38",
       false},
      {"compared with nothing", "library:libr.so:f", "", "38", false},
      {"nothing, no reference", "", "", "38", false},
      {"compared with the reference", "library:libr.so:f", kByReference, "38", true},
      {"compared with all that there is", "", kBySource, "38", true},
      {"of another driver version", "library:libr.so:f", kBySource, "39", true},
  };
  for (const Row &row : rows) {
    CAPTURE(row.what);
    const Bytes found = written(contents_with({{{"blur", "fast"}}, row.reference, {}, true}));
    OfText other{{{"blur", "fast"}}, row.reference, {{row.proof, ""}}};
    other.driver = row.driver;
    const Bytes less = written(contents_with(other));
    for (const auto &sides : {std::vector{found, less}, std::vector{less, found}}) {
      const Contents both = contents_of(opened(merged(sides)));
      REQUIRE(both.targets.size() == 1);
      CHECK(both.targets[0].binaries.size() == (row.stays ? 1 : 0));
    }
    const Bytes mended = written(
        contents_with({{{"blur", "fast"}}, row.reference, {{kByReference, "-cl-opt-disable"}}}));
    check_any_order(found, less, mended);
    std::vector<MergeChoice> choices;
    Contents both = contents_with({{{"blur", "fast"}}, row.reference, {}, true});
    REQUIRE(merge(contents_with(other), &both, &choices).ok());
    REQUIRE(choices.size() == (row.stays ? 0 : 1));
    if (!row.stays) CHECK(choices[0].rule == MergeRule::known_bad);
  }
}

TEST_CASE("a binary with a workaround is kept before one without", "[merge]") {
  const Bytes plain = written(contents_with({{{"blur", "fast"}}, "r", {{kBySource, ""}}}));
  const Bytes mended = written(contents_with({{{"blur", "fast"}}, "r", {{kBySource, "-DSAFE"}}}));
  const Bytes found = written(contents_with({{{"blur", "fast"}}, "r", {}, true}));
  for (const auto &sides : {std::vector{plain, mended}, std::vector{mended, plain},
                            std::vector{plain, found, mended}, std::vector{found, mended, plain}}) {
    const Contents kept = contents_of(opened(merged(sides)));
    REQUIRE(kept.targets.size() == 1);
    CHECK(kept.targets[0].binaries[0].finish.workaround == "-DSAFE");
  }
}
