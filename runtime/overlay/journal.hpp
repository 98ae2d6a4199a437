// SPDX-License-Identifier: Apache-2.0
// What is known of one driver on this machine: which blobs it took, which it recompiled, and
// which it died of. Pure; runtime/OVERLAY.md has the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/kiln.h"
#include "kiln/packs/pack.hpp"

namespace kiln::runtime {

enum class Verdict : std::uint8_t {
  untried = 0,
  proven = 1,       // loaded as it is (a binary: the driver gave back the same bytes)
  recompiled = 2,   // loaded, after the driver compiled it anew
  crashed = 3,      // a process ended inside the driver
  too_slow = 4,     // a binary loaded, but took longer than the application's deadline
  binary_read = 5,  // asked for its own binary for the overlay, it answered
  hung = 6,         // a process was in the driver past its deadline, and did not come back
  wrong_result = 7  // the application's check found wrong results
};

// Counts against the blob's rung too.
inline bool is_death(Verdict fate) { return fate == Verdict::crashed || fate == Verdict::hung; }

// The blob is not tried again, whatever is recorded later.
inline bool is_final(Verdict fate) {
  return is_death(fate) || fate == Verdict::too_slow || fate == Verdict::wrong_result;
}

// In place of a rung, for what is no load: linking for the overlay, first launches.
inline constexpr kiln_rung kNoLoad = static_cast<kiln_rung>(KILN_RUNG_INTERMEDIATE + 1);

struct Record {
  std::uint64_t id = 0;
  Verdict fate = Verdict::untried;
  kiln_rung rung = KILN_RUNG_ERROR;
  // Of a death: the marker that recorded it. One death may find many threads in the
  // driver.
  std::uint16_t marker = 0;
};

inline constexpr std::size_t kRecordSize = 16;
inline constexpr std::size_t kJournalHeaderSize = 256;
inline constexpr std::size_t kMaxJournalSize = 64u << 10;

void encode_record(const Record &record, std::uint8_t *out);
// Verdict::untried if the 16 bytes are not a record.
Record decode_record(const std::uint8_t *bytes);

// The 256 bytes at a journal's start: a magic, and the device's label for people.
void encode_journal_header(const std::string &label, std::uint8_t *out);

class Journal {
 public:
  // Reads whatever whole records there are; a torn or foreign one is passed over.
  explicit Journal(packs::View file = {});

  // What became of the blob: a final fate, else the last record.
  Verdict fate(std::uint64_t id) const;
  // True when two different blobs or more ended a process, or hung, on that rung; what was in
  // the driver at one death counts as one.
  bool rung_quarantined(kiln_rung rung) const;

  void add(const Record &record) { records_.push_back(record); }
  const std::vector<Record> &records() const { return records_; }
  const std::string &label() const { return label_; }

 private:
  std::vector<Record> records_;
  std::string label_;
};

}  // namespace kiln::runtime
