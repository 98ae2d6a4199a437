// SPDX-License-Identifier: Apache-2.0
// What a journal's records come to: which offers are passed over, and for how many starts.
#include "runtime/overlay/journal.hpp"

#include <initializer_list>

#include "tests/support/catch.hpp"

using namespace kiln;

TEST_CASE("what is passed over depends on the rung, the deaths and what else there is",
          "[journal]") {
  using runtime::Verdict;
  const struct {
    runtime::History history;
    runtime::RungByte rung;
    bool last;
    unsigned starts;
  } rows[] = {
      {{}, KILN_RUNG_EXACT, false, 0},
      {{Verdict::proven}, KILN_RUNG_EXACT, false, 0},
      // A binary with something below it, and without.
      {{Verdict::crashed, 1}, KILN_RUNG_EXACT, false, 0},
      {{Verdict::crashed, 2}, KILN_RUNG_EXACT, false, 8},
      {{Verdict::crashed, 3}, KILN_RUNG_OVERLAY, false, 64},
      {{Verdict::crashed, 4}, KILN_RUNG_EXACT, false, 512},
      {{Verdict::crashed, 5}, KILN_RUNG_EXACT, false, runtime::kForGood},
      {{Verdict::crashed, 99}, KILN_RUNG_INTERMEDIATE, false, runtime::kForGood},
      {{Verdict::crashed, 1}, KILN_RUNG_EXACT, true, 0},
      {{Verdict::crashed, 2}, KILN_RUNG_EXACT, true, 1},
      {{Verdict::crashed, 3}, KILN_RUNG_EXACT, true, 2},
      // IL and source.
      {{Verdict::crashed, 2}, KILN_RUNG_IL, false, 0},
      {{Verdict::crashed, 3}, KILN_RUNG_IL, false, 8},
      {{Verdict::crashed, 6}, KILN_RUNG_IL, false, runtime::kForGood},
      {{Verdict::crashed, 2}, KILN_RUNG_SOURCE, true, 0},
      {{Verdict::crashed, 3}, KILN_RUNG_SOURCE, true, 1},
      {{Verdict::crashed, 4}, KILN_RUNG_SOURCE, true, 2},
      {{Verdict::crashed, 99}, KILN_RUNG_SOURCE, true, 64},
      // Asking for a binary, linking.
      {{Verdict::crashed, 1}, KILN_RUNG_ERROR, false, 0},
      {{Verdict::crashed, 2}, runtime::kNoLoad, false, 8},
      // Refused in good order.
      {{Verdict::refused, 0, 0, 1}, KILN_RUNG_SOURCE, false, 8},
      {{Verdict::refused, 0, 0, 1}, KILN_RUNG_SOURCE, true, 0},
      {{Verdict::refused, 0, 0, 2}, KILN_RUNG_SOURCE, true, 1},
      {{Verdict::refused, 0, 0, 2}, KILN_RUNG_IL, false, 16},
      {{Verdict::refused, 0, 0, 99}, KILN_RUNG_SOURCE, true, 64},
      {{Verdict::refused, 3, 0, 1}, KILN_RUNG_SOURCE, true, 1},
  };
  for (const auto &row : rows) {
    CAPTURE(row.history.deaths, row.history.refusals, row.rung, row.last);
    CHECK(runtime::starts_to_skip(row.history, row.rung, row.last) == row.starts);
    runtime::History history = row.history;
    if (row.starts != 0) {
      history.passed_over = row.starts - 1;
      CHECK(runtime::passes_over(history, row.rung, row.last));
    }
    history.passed_over = row.starts;
    CHECK(runtime::passes_over(history, row.rung, row.last) == false);
  }
}

TEST_CASE("records of earlier versions that banned what was slow or wrong count for nothing",
          "[journal]") {
  for (const std::uint8_t old : {std::uint8_t{4}, std::uint8_t{6}, std::uint8_t{7}}) {
    std::uint8_t bytes[runtime::kRecordSize];
    runtime::encode_record({7, static_cast<runtime::Verdict>(old), KILN_RUNG_EXACT, 3}, bytes);
    CHECK(runtime::decode_record(bytes).verdict == runtime::Verdict::untried);
  }
}

TEST_CASE("records of later versions count for nothing, and verdicts keep their numbers",
          "[journal]") {
  using runtime::Verdict;
  std::uint8_t bytes[runtime::kRecordSize];
  for (unsigned value = 0; value <= 0xff; ++value) {
    const auto verdict = static_cast<Verdict>(value);
    runtime::encode_record({7, verdict, KILN_RUNG_EXACT, 3}, bytes);
    const bool known = value != 0 && value <= 12 && value != 4 && value != 6 && value != 7;
    CHECK(runtime::decode_record(bytes).verdict == (known ? verdict : Verdict::untried));
  }
  CHECK(static_cast<unsigned>(Verdict::binary_read) == 5);
  CHECK(static_cast<unsigned>(Verdict::passed_over) == 8);
  CHECK(static_cast<unsigned>(Verdict::refused) == 10);
  CHECK(static_cast<unsigned>(Verdict::not_linked) == 11);
  CHECK(static_cast<unsigned>(Verdict::healed) == 12);
}

TEST_CASE("what the linker refused stays refused, and is no death", "[journal]") {
  using runtime::Verdict;
  runtime::Journal journal;
  journal.add({1, Verdict::crashed, runtime::kNoLoad, 3});
  journal.add({1, Verdict::not_linked, runtime::kNoLoad});
  journal.add({1, Verdict::crashed, runtime::kNoLoad, 5});
  journal.add({1, Verdict::binary_read, runtime::kNoLoad});
  CHECK(journal.verdict(1) == Verdict::not_linked);
  CHECK(runtime::starts_to_skip(journal.history(1), runtime::kNoLoad, false) == runtime::kForGood);
  CHECK_FALSE(runtime::is_known(Verdict::not_linked));
  runtime::Journal anew;
  for (const runtime::Record &record : journal.folded()) anew.add(record);
  CHECK(anew.verdict(1) == Verdict::not_linked);
}

TEST_CASE(
    "a record of a rung that is not known, or no longer, is passed over, and means no other thing",
    "[journal]") {
  std::uint8_t bytes[runtime::kRecordSize];
  for (unsigned value = 0; value <= 0xff; ++value) {
    const runtime::RungByte rung{static_cast<std::uint8_t>(value)};
    runtime::encode_record({7, runtime::Verdict::crashed, rung, 3}, bytes);
    const runtime::Record record = runtime::decode_record(bytes);
    const bool known = (value <= KILN_RUNG_INTERMEDIATE && value != 2) || value == 0xff;
    CHECK((record.verdict == runtime::Verdict::crashed) == known);
    if (known) CHECK(record.rung == rung);
  }
  CHECK(runtime::kNoLoad.rung() == KILN_RUNG_ERROR);
  // The file's bytes: any other number would make other deaths of those on disk.
  CHECK(runtime::kNoLoad.value() == 255);
}

TEST_CASE("a death is recorded once for each marker, and not of what is known to work",
          "[journal]") {
  using runtime::Verdict;
  runtime::Journal journal;
  journal.add({1, Verdict::crashed, KILN_RUNG_EXACT, 3});
  journal.add({2, Verdict::crashed, KILN_RUNG_EXACT, 3});
  journal.add({2, Verdict::proven, KILN_RUNG_EXACT});
  journal.add({3, Verdict::proven, KILN_RUNG_EXACT});
  const auto is_new = [&](std::uint64_t id, std::uint16_t marker) {
    std::vector<std::uint64_t> found;
    return journal.is_new_death({id, Verdict::crashed, KILN_RUNG_EXACT, marker}, &found);
  };
  CHECK_FALSE(is_new(1, 3));
  CHECK(is_new(1, 4));
  CHECK_FALSE(is_new(2, 3));
  CHECK_FALSE(is_new(2, 4));
  CHECK_FALSE(is_new(3, 3));
  CHECK(is_new(4, 3));
  std::vector<std::uint64_t> found = {4};
  CHECK_FALSE(journal.is_new_death({4, Verdict::crashed, KILN_RUNG_EXACT, 3}, &found));
  CHECK(journal.has_marker(3));
  CHECK_FALSE(journal.has_marker(4));
}

TEST_CASE("a journal that is started anew keeps what counts", "[journal]") {
  using runtime::Verdict;
  runtime::Journal journal;
  journal.add({1, Verdict::crashed, KILN_RUNG_EXACT, 3});
  journal.add({1, Verdict::proven, KILN_RUNG_EXACT});
  journal.add({2, Verdict::proven, KILN_RUNG_EXACT});
  for (const std::uint16_t marker : std::initializer_list<std::uint16_t>{5, 5, 7, 9}) {
    journal.add({3, Verdict::crashed, KILN_RUNG_SOURCE, marker});
  }
  for (int i = 0; i < 600; ++i) journal.add({3, Verdict::passed_over, KILN_RUNG_SOURCE});
  journal.add({4, Verdict::not_linked, runtime::kNoLoad});
  journal.add({5, Verdict::refused, KILN_RUNG_IL, 1});
  journal.add({5, Verdict::refused, KILN_RUNG_IL, 2});
  journal.add({6, Verdict::crashed, KILN_RUNG_SOURCE, 11});
  runtime::Journal anew;
  for (const runtime::Record &record : journal.folded()) anew.add(record);
  CHECK(anew.records().size() < 12);
  for (std::uint64_t id = 3; id <= 6; ++id) {
    CAPTURE(id);
    CHECK(anew.history(id).last == journal.history(id).last);
    CHECK(anew.history(id).deaths == journal.history(id).deaths);
    CHECK(anew.history(id).refusals == journal.history(id).refusals);
    CHECK(anew.history(id).passed_over == journal.history(id).passed_over);
  }
  // One marker over two tasks stays one death of the rung.
  runtime::Journal shared;
  shared.add({1, Verdict::crashed, KILN_RUNG_EXACT, 900});
  shared.add({1, Verdict::crashed, KILN_RUNG_EXACT, 17});
  shared.add({2, Verdict::crashed, KILN_RUNG_EXACT, 900});
  runtime::Journal folded;
  for (const runtime::Record &record : shared.folded()) folded.add(record);
  CHECK(shared.rung_quarantined(KILN_RUNG_EXACT) == false);
  CHECK(folded.rung_quarantined(KILN_RUNG_EXACT) == false);
  CHECK(folded.history(1).deaths == 2);
  CHECK(anew.history(1).deaths == 0);
  CHECK(anew.rung_quarantined(KILN_RUNG_EXACT) == journal.rung_quarantined(KILN_RUNG_EXACT));
}
