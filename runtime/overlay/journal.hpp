// SPDX-License-Identifier: Apache-2.0
// The history of one driver on this machine: which blobs it took, which it recompiled, and which it
// crashed on. Pure; runtime/OVERLAY.md has the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/load/persistence.hpp"

namespace kiln::runtime {

inline constexpr unsigned kForGood = ~0u;

// Returns at how many starts a task is skipped before it is tried again; 0: at none.
// A binary is skipped after two deaths, since the rungs below it serve. IL and source need three:
// they take long to compile, and applications are ended meanwhile for reasons of their own. If
// something is left below it, a task is tried again after 8 starts, then 64, then 512, and then
// never with this driver. The last thing that a pack can offer is never given up: it is tried again
// after 1, 2, 4 ... 64 starts.
// A task that the compiler refused without crashing is tried again after 8, 16, 32 and 64
// starts. The last thing is tried again at once after the first refusal, which a full disk may have
// caused, then after 1, 2, 4 ... 64 starts.
unsigned starts_to_skip(const History &history, RungByte rung, bool last);
inline bool passes_over(const History &history, RungByte rung, bool last) {
  return history.passed_over < starts_to_skip(history, rung, last);
}

struct Record {
  std::uint64_t id = 0;
  Verdict verdict = Verdict::untried;
  RungByte rung;
  // For a death, the marker that recorded it: one death may find many threads in the driver. For a
  // refusal, its number since the last success. For passed_over, how often; 0 counts as 1.
  std::uint16_t marker = 0;
};

inline constexpr std::size_t kRecordSize = 16;
inline constexpr std::size_t kJournalHeaderSize = 256;
inline constexpr std::size_t kMaxJournalSize = 64u << 10;

void encode_record(const Record &record, std::uint8_t *out);
// Returns Verdict::untried if the 16 bytes are not a record.
Record decode_record(const std::uint8_t *bytes);

// Writes the 256 bytes at a journal's start: a magic number, and the device's label for people.
void encode_journal_header(const std::string &label, std::uint8_t *out);

class Journal {
 public:
  // Reads all whole records; skips torn and foreign ones.
  explicit Journal(packs::View file = {});

  // Returns the history of a task. `not_linked` stays: the same driver would
  // fail again.
  History history(std::uint64_t id) const;
  Verdict verdict(std::uint64_t id) const { return history(id).last; }
  // Returns whether a whole rung is out of use: the driver has taken nothing on it yet, and ended
  // three processes over two different binaries. Always false for IL and source, which are slow by
  // nature, and for kNoLoad.
  bool rung_quarantined(RungByte rung) const;
  // Returns the records that a new journal starts with: those that still count, merged.
  std::vector<Record> folded() const;

  // Returns whether the death of a process is to be recorded. It is not if another start has
  // recorded it, if the task was proven meanwhile, or if the task is in `found`: processes
  // that ended since the last start may have been ended together, and count as one. Adds the
  // task to `found`.
  bool is_new_death(const Record &death, std::vector<std::uint64_t> *found) const;
  // Returns whether the journal has a death that the marker `number` recorded.
  bool has_marker(std::uint16_t number) const;

  void add(const Record &record);
  const std::vector<Record> &records() const { return records_; }
  const std::string &label() const { return label_; }

 private:
  void add_deaths(std::uint64_t id, unsigned count, Journal *out) const;

  std::vector<Record> records_;
  std::string label_;
};

}  // namespace kiln::runtime
