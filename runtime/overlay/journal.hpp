// SPDX-License-Identifier: Apache-2.0
// The history of one driver on this machine: which blobs it took, which it recompiled, and which it
// crashed on. The numbers on disk are known here alone. Pure; runtime/OVERLAY.md has the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/overlay/quarantine.hpp"

namespace kiln::runtime {

struct Record {
  std::uint64_t id = 0;
  Event event = Event::none;
  std::optional<kiln_rung> rung{};  // as in DriverTask
  // For a death, the marker that recorded it: one death may find many threads in the driver. For a
  // refusal, its number since the last success. For passed_over, how often; 0 counts as 1.
  std::uint16_t marker = 0;
};

inline constexpr std::size_t kRecordSize = 16;
inline constexpr std::size_t kJournalHeaderSize = 256;
inline constexpr std::size_t kMaxJournalSize = 64u << 10;

// A task's rung as a number on disk. parse_rung() returns whether the number is known.
std::uint8_t rung_number(std::optional<kiln_rung> rung);
bool parse_rung(std::uint64_t number, std::optional<kiln_rung> *out);

void encode_record(const Record &record, std::uint8_t *out);
// Returns Event::none if the 16 bytes are not a record.
Record decode_record(const std::uint8_t *bytes);

// Writes the 256 bytes at a journal's start: a magic number, and the device's label for people.
void encode_journal_header(const std::string &label, std::uint8_t *out);

class Journal {
 public:
  // Reads all whole records; skips torn and foreign ones.
  explicit Journal(packs::View file = {});

  // Returns the history of a task, as far as the file has it. `not_linked` stays: the same driver
  // would fail again.
  History history(const DriverTask &task) const;
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
  RungHistory rung_history(std::optional<kiln_rung> rung) const;
  void add_deaths(std::uint64_t id, unsigned count, Journal *out) const;

  std::vector<Record> records_;
  std::string label_;
};

}  // namespace kiln::runtime
