// SPDX-License-Identifier: Apache-2.0
// What is known of one driver on this machine: which blobs it took, which it recompiled, and
// which it died of. Pure; runtime/OVERLAY.md has the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/load/persistence.hpp"

namespace kiln::runtime {

// Counts against a subject until it is proven.
inline bool is_final(Verdict verdict) {
  return verdict == Verdict::crashed || verdict == Verdict::wrong_result;
}

inline constexpr unsigned kForGood = ~0u;

// At how many starts a subject is passed over before it is tried again; 0: at none. A ban needs two
// deaths of a binary, since the rungs below it serve. IL and source need three: they take long to
// compile, and an application is ended meanwhile for reasons of its own. With something below it a
// subject is tried again after 8 starts, then 64, then 512, and then with this driver no more. The
// last thing that a pack has to offer is never given up: after 1, 2, 4 starts, and so on to 64.
// What the compiler refused in good order is tried again after 8, 16, 32 and 64 starts; the last
// thing at once after the first refusal, which a full disk may have been, then after 1, 2, 4
// ... 64.
unsigned starts_to_skip(const History &history, RungByte rung, bool last);
inline bool passes_over(const History &history, RungByte rung, bool last) {
  return history.passed_over < starts_to_skip(history, rung, last);
}

struct Record {
  std::uint64_t id = 0;
  Verdict verdict = Verdict::untried;
  RungByte rung;
  // Of a death: the marker that recorded it. One death may find many threads in the
  // driver. Of a refusal its number since the last success, of passed_over how often, 0 as 1.
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

  // What became of the subject. A wrong result stays for good.
  History history(std::uint64_t id) const;
  Verdict verdict(std::uint64_t id) const { return history(id).last; }
  // Whether a rung is out of use as a whole: the driver has taken nothing on it yet, and ended
  // three processes over two different binaries. Never of IL and source, which are slow by nature,
  // nor of what is no load.
  bool rung_quarantined(RungByte rung) const;
  // What a new journal starts with: what still counts, in few records.
  std::vector<Record> folded() const;

  // Whether the death of a process that was found dead is to be recorded. Not if another start has
  // recorded it, if the subject was proven meanwhile, or if it is one of `found`, to which it is
  // added: processes that ended since the last start may have been ended together, and count as
  // one.
  bool is_new_death(const Record &death, std::vector<std::uint64_t> *found) const;
  // Whether the journal has a death that a marker of that number recorded.
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
