// SPDX-License-Identifier: Apache-2.0
// Encodes records, and counts them.
#include "runtime/overlay/journal.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <iterator>

#include "kiln/packs/bytes.hpp"
#include "runtime/load/rungs.hpp"
#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime {
namespace {

constexpr std::uint8_t kJournalMagic[8] = {0x89, 'K', 'L', 'J', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t kCheckedSize = 12;  // bytes of a record before its check
// The numbers of all events, by their values.
constexpr std::uint8_t kEvents[] = {0, 1, 2, 9, 5, 10, 11, 12, 3, 8};
constexpr std::uint8_t kNoLoad = 255;  // no rung will have this number

void put_check(std::uint8_t *record) {
  const std::uint64_t hash = packs::xxh3(record, kCheckedSize);
  for (unsigned i = 0; i < 4; ++i) {
    record[kCheckedSize + i] = static_cast<std::uint8_t>(hash >> (8 * i));
  }
}

std::uint16_t limited(unsigned count) {
  return static_cast<std::uint16_t>(std::min(count, 0xffffu));
}

// Returns whether a record has the task already.
bool has_subject(std::uint64_t id, const std::vector<Record> &records) {
  for (const Record &record : records) {
    if (record.id == id) return true;
  }
  return false;
}

}  // namespace

std::uint8_t rung_number(std::optional<kiln_rung> rung) {
  return rung ? static_cast<std::uint8_t>(*rung) : kNoLoad;
}

bool parse_rung(std::uint64_t number, std::optional<kiln_rung> *out) {
  out->reset();
  if (number == kNoLoad) return true;
  if (number > kNoLoad) return false;
  const Rung *rung = find_rung(static_cast<unsigned>(number));
  if (rung == nullptr && number != KILN_RUNG_ERROR) return false;
  *out = rung == nullptr ? KILN_RUNG_ERROR : rung->id;
  return true;
}

void encode_record(const Record &record, std::uint8_t *out) {
  for (unsigned i = 0; i < 8; ++i) out[i] = static_cast<std::uint8_t>(record.id >> (8 * i));
  out[8] = kEvents[static_cast<std::size_t>(record.event)];
  out[9] = rung_number(record.rung);
  out[10] = static_cast<std::uint8_t>(record.marker);
  out[11] = static_cast<std::uint8_t>(record.marker >> 8);
  put_check(out);
}

Record decode_record(const std::uint8_t *bytes) {
  std::uint8_t checked[kRecordSize];
  std::memcpy(checked, bytes, kCheckedSize);
  put_check(checked);
  Record record;
  if (std::memcmp(checked, bytes, kRecordSize) != 0) return record;
  // Other events are of a newer version, or of an earlier one that banned slow tasks (4), hung ones
  // (6) or wrong results (7).
  const auto *event = std::find(std::begin(kEvents), std::end(kEvents), bytes[8]);
  if (event == std::end(kEvents) || !parse_rung(bytes[9], &record.rung)) return record;
  for (unsigned i = 0; i < 8; ++i) record.id |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  record.event = static_cast<Event>(event - std::begin(kEvents));
  record.marker = static_cast<std::uint16_t>(bytes[10] | bytes[11] << 8);
  return record;
}

void encode_journal_header(const std::string &label, std::uint8_t *out) {
  std::memset(out, 0, kJournalHeaderSize);
  std::memcpy(out, kJournalMagic, sizeof(kJournalMagic));
  const std::size_t size = utf8_prefix(label, kJournalHeaderSize - sizeof(kJournalMagic) - 1);
  std::memcpy(out + sizeof(kJournalMagic), label.data(), size);
}

Journal::Journal(packs::View file) {
  if (file.size >= kJournalHeaderSize &&
      std::memcmp(file.data, kJournalMagic, sizeof(kJournalMagic)) == 0) {
    const char *label = reinterpret_cast<const char *>(file.data) + sizeof(kJournalMagic);
    label_.assign(label, strnlen(label, kJournalHeaderSize - sizeof(kJournalMagic)));
  }
  for (std::size_t at = 0; at + kRecordSize <= file.size; at += kRecordSize) {
    const Record record = decode_record(file.data + at);
    if (record.event != Event::none) add(record);
  }
}

void Journal::add(const Record &record) { records_.push_back(record); }

History Journal::history(const DriverTask &task) const {
  History history;
  history.rung = rung_history(task.rung);
  std::uint16_t marker = 0;  // of the last death
  for (const Record &record : records_) {
    if (record.id != task.id || history.last == Event::not_linked) continue;
    switch (record.event) {
      case Event::passed_over:
        history.passed_over += std::max<unsigned>(record.marker, 1);
        continue;
      case Event::died:
        // Two starts may have found the same marker.
        history.deaths += history.deaths != 0 && record.marker == marker ? 0 : 1;
        marker = record.marker;
        break;
      case Event::refused: history.refusals = std::max<unsigned>(record.marker, 1); break;
      default: history.deaths = history.refusals = 0;
    }
    history.passed_over = 0;
    history.last = record.event;
  }
  return history;
}

RungHistory Journal::rung_history(std::optional<kiln_rung> rung) const {
  RungHistory history;
  if (!rung) return history;
  std::vector<std::uint16_t> markers;
  const Record *first = nullptr;
  for (const Record &record : records_) {
    if (record.rung != rung) continue;
    history.survived |= survived(record.event);
    if (record.event != Event::died) continue;
    if (first == nullptr) first = &record;
    history.several |= record.id != first->id;
    if (std::find(markers.begin(), markers.end(), record.marker) == markers.end()) {
      markers.push_back(record.marker);
    }
  }
  history.deaths = static_cast<unsigned>(markers.size());
  return history;
}

bool Journal::is_new_death(const Record &death, std::vector<std::uint64_t> *found) const {
  if (std::find(found->begin(), found->end(), death.id) != found->end()) return false;
  found->push_back(death.id);
  const History before = history({death.id});
  if (survived(before.last) || before.deaths == 0) return !survived(before.last);
  const auto last = std::find_if(records_.rbegin(), records_.rend(), [&](const Record &record) {
    return record.id == death.id && record.event == Event::died;
  });
  return last->marker != death.marker;
}

bool Journal::has_marker(std::uint16_t number) const {
  for (const Record &record : records_) {
    if (record.event == Event::died && record.marker == number) return true;
  }
  return false;
}

// Adds the last `count` deaths of a task to `*out`, each with its marker's number.
void Journal::add_deaths(std::uint64_t id, unsigned count, Journal *out) const {
  std::vector<Record> deaths;
  for (const Record &record : records_) {
    if (record.id != id || record.event != Event::died) continue;
    if (deaths.empty() || deaths.back().marker != record.marker) deaths.push_back(record);
  }
  for (std::size_t i = deaths.size() - count; i < deaths.size(); ++i) out->add(deaths[i]);
}

std::vector<Record> Journal::folded() const {
  Journal folded;
  std::vector<Record> &kept = folded.records_;
  std::bitset<256> rungs;  // rungs on which a task was taken
  for (const Record &record : records_) {
    if (has_subject(record.id, kept)) continue;
    const History now = history({record.id});
    const std::uint8_t rung = rung_number(record.rung);
    if (survived(now.last) && rungs[rung]) continue;
    if (survived(now.last)) rungs.set(rung);
    if (survived(now.last) || now.last == Event::not_linked || now.last == Event::healed)
      folded.add({record.id, now.last, record.rung});
    if (now.refusals != 0) {
      folded.add({record.id, Event::refused, record.rung, limited(now.refusals)});
    }
    if (now.deaths != 0) add_deaths(record.id, now.deaths, &folded);
    if (now.passed_over != 0) {
      folded.add({record.id, Event::passed_over, record.rung, limited(now.passed_over)});
    }
  }
  return std::move(folded.records_);
}

}  // namespace kiln::runtime
