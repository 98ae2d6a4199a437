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
  proven = 1,        // loaded as it is (a binary: the driver gave back the same bytes)
  recompiled = 2,    // loaded, after the driver compiled it anew
  crashed = 3,       // a process ended inside the driver
  too_slow = 4,      // of earlier versions, which banned slow binaries; passed over when read
  binary_read = 5,   // asked for its own binary for the overlay, it answered
  hung = 6,          // likewise; without a marker, in memory alone: see is_stuck()
  wrong_result = 7,  // the application's check found wrong results
  passed_over = 8    // not given to the driver at one load, because of the deaths before
};

// Counts against a subject until it is proven.
inline bool is_final(Verdict fate) {
  return fate == Verdict::crashed || fate == Verdict::wrong_result;
}

// The driver did it and lived: what follows needs no marker.
inline bool is_known(Verdict fate) {
  return fate == Verdict::proven || fate == Verdict::recompiled || fate == Verdict::binary_read;
}

// What is known of one subject.
struct History {
  Verdict last = Verdict::untried;  // without passed_over
  unsigned deaths = 0;              // since it was last proven; one for each process
  unsigned passed_over = 0;         // times since the last death
  std::uint16_t marker = 0;         // that told of the last death
  bool stuck = false;               // is_stuck()
};

// Whether to pass a subject over at this load. A binary is passed over after one death: the rungs
// below it serve. IL and source take long to compile, so that an application is often ended then,
// for reasons of its own: they need three. The last thing that a pack can offer is never given up,
// but tried again after it was passed over once, twice, four times, and so on to 64.
bool passes_over(const History &history, kiln_rung rung, bool last);

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

// Whether another living process has been given the subject for longer than its deadline.
inline bool is_stuck(const Record &record) {
  return record.fate == Verdict::hung && record.marker == 0;
}

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

  // What became of the subject. A wrong result stays for good.
  History history(std::uint64_t id) const;
  Verdict fate(std::uint64_t id) const { return history(id).last; }
  // Whether two different binaries or more ended a process on that rung and were not proven since;
  // what was in the driver at one death counts as one. Never of IL and source.
  bool rung_quarantined(kiln_rung rung) const;

  void add(const Record &record);
  const std::vector<Record> &records() const { return records_; }
  const std::string &label() const { return label_; }

 private:
  std::vector<Record> records_;
  std::string label_;
};

}  // namespace kiln::runtime
