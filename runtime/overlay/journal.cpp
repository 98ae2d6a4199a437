// SPDX-License-Identifier: Apache-2.0
#include "runtime/overlay/journal.hpp"

#include <algorithm>
#include <cstring>

#include "kiln/packs/hash.hpp"
#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime {
namespace {

constexpr std::uint8_t kMagic[8] = {0x89, 'K', 'L', 'J', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t kCheckedSize = 12;  // of a record; its check follows

void put_check(std::uint8_t *record) {
  const std::uint64_t hash = packs::xxh3(record, kCheckedSize);
  for (unsigned i = 0; i < 4; ++i) {
    record[kCheckedSize + i] = static_cast<std::uint8_t>(hash >> (8 * i));
  }
}

}  // namespace

void encode_record(const Record &record, std::uint8_t *out) {
  for (unsigned i = 0; i < 8; ++i) out[i] = static_cast<std::uint8_t>(record.id >> (8 * i));
  out[8] = static_cast<std::uint8_t>(record.fate);
  out[9] = static_cast<std::uint8_t>(record.rung);
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
  if (bytes[8] > static_cast<std::uint8_t>(Verdict::passed_over) || bytes[9] > kNoLoad) {
    return record;  // of a newer version
  }
  for (unsigned i = 0; i < 8; ++i) record.id |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  record.fate = static_cast<Verdict>(bytes[8]);
  record.rung = static_cast<kiln_rung>(bytes[9]);
  record.marker = static_cast<std::uint16_t>(bytes[10] | bytes[11] << 8);
  return record;
}

void encode_journal_header(const std::string &label, std::uint8_t *out) {
  std::memset(out, 0, kJournalHeaderSize);
  std::memcpy(out, kMagic, sizeof(kMagic));
  const std::size_t size = utf8_prefix(label, kJournalHeaderSize - sizeof(kMagic) - 1);
  std::memcpy(out + sizeof(kMagic), label.data(), size);
}

Journal::Journal(packs::View file) {
  if (file.size >= kJournalHeaderSize && std::memcmp(file.data, kMagic, sizeof(kMagic)) == 0) {
    const char *label = reinterpret_cast<const char *>(file.data) + sizeof(kMagic);
    label_.assign(label, strnlen(label, kJournalHeaderSize - sizeof(kMagic)));
  }
  for (std::size_t at = 0; at + kRecordSize <= file.size; at += kRecordSize) {
    const Record record = decode_record(file.data + at);
    if (record.fate != Verdict::untried) add(record);
  }
}

void Journal::add(const Record &record) { records_.push_back(record); }

History Journal::history(std::uint64_t id) const {
  History history;
  for (const Record &record : records_) {
    if (record.id != id || history.last == Verdict::wrong_result) continue;
    switch (record.fate) {
      case Verdict::too_slow: continue;
      case Verdict::hung: history.stuck |= is_stuck(record); continue;
      case Verdict::passed_over: ++history.passed_over; continue;
      case Verdict::crashed:
        // Two starts may have found one marker.
        history.deaths += history.deaths != 0 && record.marker == history.marker ? 0 : 1;
        history.marker = record.marker;
        break;
      default: history.deaths = 0;
    }
    history.passed_over = 0;
    history.last = record.fate;
  }
  return history;
}

bool Journal::rung_quarantined(kiln_rung rung) const {
  if (rung == KILN_RUNG_IL || rung == KILN_RUNG_SOURCE) return false;
  const Record *first = nullptr;
  for (const Record &record : records_) {
    if (record.fate != Verdict::crashed || record.rung != rung) continue;
    if (history(record.id).deaths == 0) continue;
    if (first == nullptr) first = &record;
    const bool same_death = record.marker != 0 && record.marker == first->marker;
    if (record.id != first->id && !same_death) return true;
  }
  return false;
}

bool passes_over(const History &history, kiln_rung rung, bool last) {
  if (history.last == Verdict::wrong_result) return true;
  const unsigned patience = rung == KILN_RUNG_IL || rung == KILN_RUNG_SOURCE ? 3 : 1;
  if (history.deaths < patience) return false;
  constexpr unsigned kMaxDoublings = 6;
  return !last || history.passed_over < 1u << std::min(history.deaths - patience, kMaxDoublings);
}

}  // namespace kiln::runtime
