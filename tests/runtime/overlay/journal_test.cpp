// SPDX-License-Identifier: Apache-2.0
// What a journal's records come to: which offers are passed over, and for how many starts.
#include "runtime/overlay/journal.hpp"

#include <initializer_list>
#include <iterator>

#include "tests/support/catch.hpp"
#include "tests/support/journal_file.hpp"

using namespace kiln;

TEST_CASE("what is passed over depends on the rung, the deaths and what else there is",
          "[journal]") {
  using runtime::Event;
  const struct {
    runtime::History history;
    std::optional<kiln_rung> rung;
    bool last;
    unsigned starts;
  } rows[] = {
      {{}, KILN_RUNG_EXACT, false, 0},
      {{Event::proven}, KILN_RUNG_EXACT, false, 0},
      // A binary with something below it, and without.
      {{Event::died, 1}, KILN_RUNG_EXACT, false, 0},
      {{Event::died, 2}, KILN_RUNG_EXACT, false, 8},
      {{Event::died, 3}, KILN_RUNG_OVERLAY, false, 64},
      {{Event::died, 4}, KILN_RUNG_EXACT, false, 512},
      {{Event::died, 5}, KILN_RUNG_EXACT, false, runtime::kForGood},
      {{Event::died, 99}, KILN_RUNG_INTERMEDIATE, false, runtime::kForGood},
      {{Event::died, 1}, KILN_RUNG_EXACT, true, 0},
      {{Event::died, 2}, KILN_RUNG_EXACT, true, 1},
      {{Event::died, 3}, KILN_RUNG_EXACT, true, 2},
      // IL and source.
      {{Event::died, 2}, KILN_RUNG_IL, false, 0},
      {{Event::died, 3}, KILN_RUNG_IL, false, 8},
      {{Event::died, 6}, KILN_RUNG_IL, false, runtime::kForGood},
      {{Event::died, 2}, KILN_RUNG_SOURCE, true, 0},
      {{Event::died, 3}, KILN_RUNG_SOURCE, true, 1},
      {{Event::died, 4}, KILN_RUNG_SOURCE, true, 2},
      {{Event::died, 99}, KILN_RUNG_SOURCE, true, 64},
      // Asking for a binary, linking.
      {{Event::died, 1}, KILN_RUNG_ERROR, false, 0},
      {{Event::died, 2}, std::nullopt, false, 8},
      // Refused in good order.
      {{Event::refused, 0, 0, 1}, KILN_RUNG_SOURCE, false, 8},
      {{Event::refused, 0, 0, 1}, KILN_RUNG_SOURCE, true, 0},
      {{Event::refused, 0, 0, 2}, KILN_RUNG_SOURCE, true, 1},
      {{Event::refused, 0, 0, 2}, KILN_RUNG_IL, false, 16},
      {{Event::refused, 0, 0, 99}, KILN_RUNG_SOURCE, true, 64},
      {{Event::refused, 3, 0, 1}, KILN_RUNG_SOURCE, true, 1},
  };
  CHECK(runtime::starts_to_skip({Event::died, 1}, {}, runtime::kOptional) == runtime::kForGood);
  for (const auto &row : rows) {
    CAPTURE(row.history.deaths, row.history.refusals, row.last);
    CHECK(runtime::starts_to_skip(row.history, row.rung, {0, row.last}) == row.starts);
    runtime::History history = row.history;
    if (row.starts != 0) {
      history.passed_over = row.starts - 1;
      CHECK(runtime::passes_over(history, row.rung, {0, row.last}));
    }
    history.passed_over = row.starts;
    CHECK(runtime::passes_over(history, row.rung, {0, row.last}) == false);
  }
}

TEST_CASE("events keep their numbers, and records of other versions count for nothing",
          "[journal]") {
  using runtime::Event;
  // Earlier versions banned what was slow, hung or wrong: 4, 6 and 7.
  constexpr Event kEvents[] = {
      Event::none,    Event::proven,     Event::recompiled, Event::died,        Event::none,
      Event::given,   Event::none,       Event::none,       Event::passed_over, Event::taken,
      Event::refused, Event::not_linked, Event::healed};
  std::uint8_t bytes[runtime::kRecordSize];
  for (unsigned number = 0; number <= 0xff; ++number) {
    const Event event = number < std::size(kEvents) ? kEvents[number] : Event::none;
    runtime::encode_record({7, event, KILN_RUNG_EXACT, 3}, bytes);
    if (event != Event::none) CHECK(bytes[8] == number);
    test::set_byte(bytes, 8, number);
    CHECK(runtime::decode_record(bytes).event == event);
  }
}

TEST_CASE("what the linker refused stays refused, and is no death", "[journal]") {
  using runtime::Event;
  runtime::Journal journal;
  journal.add({1, Event::died, {}, 3});
  journal.add({1, Event::not_linked});
  journal.add({1, Event::died, {}, 5});
  journal.add({1, Event::given});
  CHECK(journal.history({1}).last == Event::not_linked);
  CHECK(runtime::starts_to_skip(journal.history({1}), {}, {}) == runtime::kForGood);
  CHECK_FALSE(runtime::survived(Event::not_linked));
  runtime::Journal anew;
  for (const runtime::Record &record : journal.folded()) anew.add(record);
  CHECK(anew.history({1}).last == Event::not_linked);
}

TEST_CASE(
    "a record of a rung that is not known, or no longer, is passed over, and means no other thing",
    "[journal]") {
  std::uint8_t bytes[runtime::kRecordSize];
  for (unsigned value = 0; value <= 0xff; ++value) {
    runtime::encode_record({7, runtime::Event::died, KILN_RUNG_EXACT, 3}, bytes);
    test::set_byte(bytes, 9, value);
    const runtime::Record record = runtime::decode_record(bytes);
    const bool known = (value <= KILN_RUNG_INTERMEDIATE && value != 2) || value == 0xff;
    CHECK((record.event == runtime::Event::died) == known);
    if (known) CHECK(runtime::rung_number(record.rung) == value);
  }
  CHECK(runtime::rung_number({}) == 255);
}

TEST_CASE("a death is recorded once for each marker, and not of what is known to work",
          "[journal]") {
  using runtime::Event;
  runtime::Journal journal;
  journal.add({1, Event::died, KILN_RUNG_EXACT, 3});
  journal.add({2, Event::died, KILN_RUNG_EXACT, 3});
  journal.add({2, Event::proven, KILN_RUNG_EXACT});
  journal.add({3, Event::proven, KILN_RUNG_EXACT});
  const auto is_new = [&](std::uint64_t id, std::uint16_t marker) {
    std::vector<std::uint64_t> found;
    return journal.is_new_death({id, Event::died, KILN_RUNG_EXACT, marker}, &found);
  };
  CHECK_FALSE(is_new(1, 3));
  CHECK(is_new(1, 4));
  CHECK_FALSE(is_new(2, 3));
  CHECK_FALSE(is_new(2, 4));
  CHECK_FALSE(is_new(3, 3));
  CHECK(is_new(4, 3));
  std::vector<std::uint64_t> found = {4};
  CHECK_FALSE(journal.is_new_death({4, Event::died, KILN_RUNG_EXACT, 3}, &found));
  CHECK(journal.has_marker(3));
  CHECK_FALSE(journal.has_marker(4));
}

TEST_CASE("a journal that is started anew keeps what counts", "[journal]") {
  using runtime::Event;
  runtime::Journal journal;
  journal.add({1, Event::died, KILN_RUNG_EXACT, 3});
  journal.add({1, Event::proven, KILN_RUNG_EXACT});
  journal.add({2, Event::proven, KILN_RUNG_EXACT});
  for (const std::uint16_t marker : std::initializer_list<std::uint16_t>{5, 5, 7, 9}) {
    journal.add({3, Event::died, KILN_RUNG_SOURCE, marker});
  }
  for (int i = 0; i < 600; ++i) journal.add({3, Event::passed_over, KILN_RUNG_SOURCE});
  journal.add({4, Event::not_linked});
  journal.add({5, Event::refused, KILN_RUNG_IL, 1});
  journal.add({5, Event::refused, KILN_RUNG_IL, 2});
  journal.add({6, Event::died, KILN_RUNG_SOURCE, 11});
  runtime::Journal anew;
  for (const runtime::Record &record : journal.folded()) anew.add(record);
  CHECK(anew.records().size() < 12);
  for (std::uint64_t id = 3; id <= 6; ++id) {
    CAPTURE(id);
    CHECK(anew.history({id}).last == journal.history({id}).last);
    CHECK(anew.history({id}).deaths == journal.history({id}).deaths);
    CHECK(anew.history({id}).refusals == journal.history({id}).refusals);
    CHECK(anew.history({id}).passed_over == journal.history({id}).passed_over);
  }
  // One marker over two tasks stays one death of the rung.
  runtime::Journal shared;
  shared.add({1, Event::died, KILN_RUNG_EXACT, 900});
  shared.add({1, Event::died, KILN_RUNG_EXACT, 17});
  shared.add({2, Event::died, KILN_RUNG_EXACT, 900});
  runtime::Journal folded;
  for (const runtime::Record &record : shared.folded()) folded.add(record);
  for (const runtime::Journal *whole : {&shared, &folded}) {
    CHECK(whole->history({2, KILN_RUNG_EXACT}).rung.several);
    CHECK(whole->history({2, KILN_RUNG_EXACT}).rung.deaths == 2);
  }
  CHECK(folded.history({1}).deaths == 2);
  CHECK(anew.history({1}).deaths == 0);
  CHECK(anew.history({1, KILN_RUNG_EXACT}).rung.survived);
}
