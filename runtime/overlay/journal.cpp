// SPDX-License-Identifier: Apache-2.0
// Encodes records, and decides by their counts whether a task is given to the driver again.
#include "runtime/overlay/journal.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>

#include "kiln/packs/bytes.hpp"
#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime {
namespace {

constexpr std::uint8_t kJournalMagic[8] = {0x89, 'K', 'L', 'J', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t kCheckedSize = 12;  // bytes of a record before its check

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

void encode_record(const Record &record, std::uint8_t *out) {
  for (unsigned i = 0; i < 8; ++i) out[i] = static_cast<std::uint8_t>(record.id >> (8 * i));
  out[8] = static_cast<std::uint8_t>(record.verdict);
  out[9] = record.rung.value();
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
  // Other verdicts are of a newer version, or of an earlier one that banned slow tasks (4), hung
  // ones (6) or wrong results (7).
  constexpr unsigned kKnown = 0x1f2e;  // 1, 2, 3, 5, 8 to 12
  if (bytes[8] > 12 || (kKnown >> bytes[8] & 1) == 0) return record;
  const RungByte rung{bytes[9]};
  if (!rung.is_rung() && rung != kNoLoad) return record;
  for (unsigned i = 0; i < 8; ++i) record.id |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  record.verdict = static_cast<Verdict>(bytes[8]);
  record.rung = rung;
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
    if (record.verdict != Verdict::untried) add(record);
  }
}

void Journal::add(const Record &record) { records_.push_back(record); }

History Journal::history(std::uint64_t id) const {
  History history;
  for (const Record &record : records_) {
    if (record.id != id || history.last == Verdict::not_linked) continue;
    switch (record.verdict) {
      case Verdict::stuck: history.stuck = true; continue;
      case Verdict::passed_over:
        history.passed_over += std::max<unsigned>(record.marker, 1);
        continue;
      case Verdict::crashed:
        // Two starts may have found the same marker.
        history.deaths += history.deaths != 0 && record.marker == history.marker ? 0 : 1;
        history.marker = record.marker;
        break;
      case Verdict::refused: history.refusals = std::max<unsigned>(record.marker, 1); break;
      default: history.deaths = history.refusals = 0;
    }
    history.passed_over = 0;
    history.last = record.verdict;
  }
  return history;
}

bool Journal::is_new_death(const Record &death, std::vector<std::uint64_t> *found) const {
  if (std::find(found->begin(), found->end(), death.id) != found->end()) return false;
  found->push_back(death.id);
  const History before = history(death.id);
  return !is_known(before.last) && (before.deaths == 0 || before.marker != death.marker);
}

bool Journal::has_marker(std::uint16_t number) const {
  for (const Record &record : records_) {
    if (record.verdict == Verdict::crashed && record.marker == number) return true;
  }
  return false;
}

bool Journal::rung_quarantined(RungByte rung) const {
  if (rung.is_slow() || rung == kNoLoad) return false;
  std::vector<std::uint16_t> deaths;
  std::uint64_t first = 0;
  bool two = false;
  for (const Record &record : records_) {
    if (record.rung != rung) continue;
    if (is_known(record.verdict)) return false;
    if (record.verdict != Verdict::crashed) continue;
    if (deaths.empty()) first = record.id;
    two |= record.id != first;
    if (std::find(deaths.begin(), deaths.end(), record.marker) == deaths.end()) {
      deaths.push_back(record.marker);
    }
  }
  return two && deaths.size() >= 3;
}

// Adds the last `count` deaths of a task to `*out`, each with its marker's number.
void Journal::add_deaths(std::uint64_t id, unsigned count, Journal *out) const {
  std::vector<Record> deaths;
  for (const Record &record : records_) {
    if (record.id != id || record.verdict != Verdict::crashed) continue;
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
    const History now = history(record.id);
    Record out = record;
    out.marker = 0;
    out.verdict = now.last;
    if (is_known(now.last) && rungs[record.rung.value()]) continue;
    if (is_known(now.last)) rungs.set(record.rung.value());
    if (is_known(now.last) || now.last == Verdict::not_linked || now.last == Verdict::healed)
      folded.add(out);
    if (now.refusals != 0) {
      folded.add({record.id, Verdict::refused, record.rung, limited(now.refusals)});
    }
    if (now.deaths != 0) add_deaths(record.id, now.deaths, &folded);
    if (now.passed_over != 0) {
      folded.add({record.id, Verdict::passed_over, record.rung, limited(now.passed_over)});
    }
  }
  return std::move(folded.records_);
}

unsigned starts_to_skip(const History &history, RungByte rung, bool last) {
  if (history.last == Verdict::not_linked) return kForGood;
  const unsigned patience = rung.is_slow() ? 3 : 2;
  if (history.deaths < patience) {
    if (history.refusals < (last ? 2 : 1)) return 0;
    return last ? 1u << std::min(history.refusals - 2, 6u)
                : 8u << std::min(history.refusals - 1, 3u);
  }
  const unsigned retries = history.deaths - patience;
  if (last) return 1u << std::min(retries, 6u);
  return retries < 3 ? 8u << 3 * retries : kForGood;
}

}  // namespace kiln::runtime
