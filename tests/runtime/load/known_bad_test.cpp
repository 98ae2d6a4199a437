// SPDX-License-Identifier: Apache-2.0
// What a load leaves out because the pack has a known-bad note.
#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;
using packs::NoteText;

namespace {

constexpr char kWhy[] = "missed: known to be wrong: it is blurred";

packs::KnownBad note(std::uint32_t rungs,
                     std::vector<std::pair<NoteText, std::string>> texts = {}) {
  packs::KnownBad note;
  note.rungs = rungs;
  texts.emplace_back(NoteText::reason, "it is blurred");
  for (auto &[which, text] : texts) {
    note.texts[static_cast<std::size_t>(which)] = std::move(text);
  }
  return note;
}

packs::Bytes pack_with(std::vector<packs::KnownBad> notes) {
  packs::Contents contents = fake_contents();
  contents.known_bad_version = 1;
  contents.known_bad = std::move(notes);
  return written(contents);
}

constexpr std::uint32_t bit(kiln_rung rung) { return 1u << rung; }

}  // namespace

TEST_CASE("a known-bad note leaves out its rungs, and the report has its reason", "[known-bad]") {
  const FakeLoad exact(pack_with({note(bit(KILN_RUNG_EXACT))}));
  CHECK(exact.rung() == KILN_RUNG_IL);
  CHECK(exact.reason(KILN_RUNG_EXACT) == kWhy);
  const FakeLoad both(pack_with({note(bit(KILN_RUNG_EXACT)), note(bit(KILN_RUNG_IL))}));
  CHECK(both.rung() == KILN_RUNG_SOURCE);
  CHECK(both.reason(KILN_RUNG_IL) == kWhy);
  const FakeLoad all(pack_with({note(packs::kAllRungs)}));
  CHECK(all.status == KILN_ERROR_NO_RUNG);
  CHECK(all.rung() == KILN_RUNG_ERROR);
  CHECK(std::string(all.error.message).find("source: known to be wrong: it is blurred") !=
        std::string::npos);
}

TEST_CASE("a note about another driver, program or kernel changes nothing", "[known-bad]") {
  const std::uint32_t exact = bit(KILN_RUNG_EXACT);
  for (const auto &[which, text] :
       std::vector<std::pair<NoteText, std::string>>{{NoteText::profile, "pocl"},
                                                     {NoteText::driver_below, "7.1"},
                                                     {NoteText::driver_from, "7.2"},
                                                     {NoteText::program, "q"},
                                                     {NoteText::variant, "other"},
                                                     {NoteText::kernel, "l"}}) {
    CAPTURE(text);
    CHECK(FakeLoad(pack_with({note(exact, {{which, text}})})).rung() == KILN_RUNG_EXACT);
  }
  const packs::KnownBad about = note(exact, {{NoteText::profile, "generic"},
                                             {NoteText::driver_from, "7.1"},
                                             {NoteText::driver_below, "7.2"},
                                             {NoteText::program, "P"},
                                             {NoteText::kernel, "k"}});
  CHECK(FakeLoad(pack_with({about})).rung() == KILN_RUNG_IL);
}

TEST_CASE("the next variant is loaded if notes leave out all rungs of the first", "[known-bad]") {
  packs::Contents contents = fake_contents();
  packs::Variant other = contents.programs[0].variants[0];
  other.name = "w";
  other.hash[0] = 2;
  contents.programs[0].variants.push_back(other);
  CHECK(FakeLoad(written(contents)).json().find("\"variant\": \"v\"") != std::string::npos);
  contents.known_bad_version = 1;
  contents.known_bad = {note(packs::kAllRungs, {{NoteText::variant, "v"}})};
  const FakeLoad next(written(contents));
  CHECK(next.rung() == KILN_RUNG_IL);
  CHECK(next.json().find("\"variant\": \"w\"") != std::string::npos);
  CHECK(next.json().find("no rung could load v") != std::string::npos);
}

TEST_CASE_METHOD(OverlayFixture, "the overlay gives no binary of a rung that a note leaves out",
                 "[known-bad]") {
  const auto rung = [&](const packs::Bytes &bytes) { return Start(bytes, overlay).load.rung(); };
  packs::Contents contents = fake_contents();
  contents.targets.clear();
  const packs::Bytes plain = written(contents);
  contents.known_bad_version = 1;
  contents.known_bad = {note(bit(KILN_RUNG_IL))};
  const packs::Bytes noted = written(contents);
  contents.known_bad = {note(bit(KILN_RUNG_OVERLAY))};
  const packs::Bytes without = written(contents);
  CHECK(rung(plain) == KILN_RUNG_IL);
  CHECK(rung(plain) == KILN_RUNG_OVERLAY);
  CHECK(rung(noted) == KILN_RUNG_SOURCE);   // the overlay's binary was compiled from the IL
  CHECK(rung(noted) == KILN_RUNG_OVERLAY);  // and this one from the source
  CHECK(rung(without) == KILN_RUNG_IL);
  CHECK(rung(plain) == KILN_RUNG_OVERLAY);
}

TEST_CASE_METHOD(OverlayFixture,
                 "an overlay's binary that is not final is used if the pack's is known to be wrong",
                 "[known-bad]") {
  packs::Contents contents = fake_contents();
  contents.targets[0].binaries[0].finish.finality = packs::Finality::yes;
  contents.known_bad_version = 1;
  contents.known_bad = {note(bit(KILN_RUNG_EXACT))};
  const packs::Bytes noted = written(contents);
  CHECK(Start(noted, overlay).load.rung() == KILN_RUNG_IL);
  CHECK(Start(noted, overlay).load.rung() == KILN_RUNG_OVERLAY);
}
