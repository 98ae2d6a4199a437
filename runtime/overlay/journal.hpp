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
  binary_read = 5,   // asked for its own binary for the overlay, it answered
  stuck = 6,         // in memory alone: another living process is in the driver past its deadline
  wrong_result = 7,  // the application's check found wrong results
  passed_over = 8,   // not given to the driver at one start, because of what happened before
  taken = 9,         // loaded; the driver was not asked whether it took a binary as it is
  refused = 10       // its compiler refused it in good order
};

inline constexpr kiln_rung kHighestRung = KILN_RUNG_INTERMEDIATE;

// A rung's number as it is on disk, or kNoLoad.
class RungByte {
 public:
  constexpr RungByte(kiln_rung rung = KILN_RUNG_ERROR)  // NOLINT(google-explicit-constructor)
      : value_(static_cast<std::uint8_t>(rung)) {}
  constexpr explicit RungByte(std::uint8_t value) : value_(value) {}

  constexpr std::uint8_t value() const { return value_; }
  // For people: what is no load has no rung.
  constexpr kiln_rung rung() const {
    return is_rung() ? static_cast<kiln_rung>(value_) : KILN_RUNG_ERROR;
  }
  constexpr bool is_rung() const { return value_ <= kHighestRung; }
  // Compiling takes so long that the application is often ended meanwhile.
  constexpr bool is_slow() const { return value_ == KILN_RUNG_IL || value_ == KILN_RUNG_SOURCE; }

  friend constexpr bool operator==(RungByte a, RungByte b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(RungByte a, RungByte b) { return !(a == b); }

 private:
  std::uint8_t value_;
};

// In place of a rung, for what is no load: linking for the overlay, first launches, unloading the
// compiler, asking for work-group sizes. No rung will ever have the number.
inline constexpr RungByte kNoLoad{std::uint8_t{0xff}};

// Counts against a subject until it is proven.
inline bool is_final(Verdict fate) {
  return fate == Verdict::crashed || fate == Verdict::wrong_result;
}

// The driver did it and lived: what follows needs no marker.
inline bool is_known(Verdict fate) {
  return fate == Verdict::proven || fate == Verdict::recompiled || fate == Verdict::binary_read ||
         fate == Verdict::taken;
}

// What is known of one subject.
struct History {
  Verdict last = Verdict::untried;  // without passed_over
  unsigned deaths = 0;              // since it was last proven; one for each process
  unsigned passed_over = 0;         // starts since the last death or refusal
  unsigned refusals = 0;            // since it was last proven
  std::uint16_t marker = 0;         // that recorded the last death
  bool stuck = false;               // as Verdict::stuck
};

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
  Verdict fate = Verdict::untried;
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
  Verdict fate(std::uint64_t id) const { return history(id).last; }
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
