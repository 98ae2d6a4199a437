// SPDX-License-Identifier: Apache-2.0
// What outlives the process, as the core asks for it: which bytes the driver survived, and which
// binaries this device made itself. A plug point: runtime/overlay implements it, and a loader
// without it remembers nothing.
#pragma once

#include <cstdint>
#include <string>

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

// The driver did it and lived: what follows needs no marker.
inline bool is_known(Verdict verdict) {
  return verdict == Verdict::proven || verdict == Verdict::recompiled ||
         verdict == Verdict::binary_read || verdict == Verdict::taken;
}

inline constexpr kiln_rung kHighestRung = KILN_RUNG_INTERMEDIATE;
inline constexpr std::uint8_t kEarlierNoLoad = 7;  // kNoLoad of earlier journals; never a rung's

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
  constexpr bool is_rung() const { return value_ <= kHighestRung && value_ != kEarlierNoLoad; }
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

// What an attempt works on. The id names the bytes together with the way they are built.
struct BlobUse {
  std::uint64_t id = 0;
  RungByte rung;
};

// What is known of one subject.
struct History {
  Verdict last = Verdict::untried;  // without passed_over
  unsigned deaths = 0;              // since it was last proven; one for each process
  unsigned passed_over = 0;         // starts since the last death or refusal
  unsigned refusals = 0;            // since it was last proven
  std::uint16_t marker = 0;         // that recorded the last death
  bool stuck = false;               // as Verdict::stuck
};

// Remembers what a driver survived. Any thread may call.
class Guard {
 public:
  virtual History history(std::uint64_t id) const = 0;
  Verdict verdict(std::uint64_t id) const { return history(id).last; }
  // Ok if the subject may be tried, else why it is in quarantine. `last`: nothing else is left to
  // try. What is passed over is recorded, once for this object; with `dry_run` nothing is.
  virtual packs::Status check(const BlobUse &subject, bool last, bool dry_run) = 0;
  packs::Status check(const BlobUse &subject) { return check(subject, false, false); }
  // The same for what happened to the subject alone, whatever others did on its rung.
  virtual bool passes_over(const BlobUse &subject, bool last, bool dry_run) = 0;

  // Writes a marker before the driver sees an unproven subject, on the thread that calls it.
  // `deadline` in milliseconds, 0 for none. `*slot` is set on success alone.
  virtual packs::Status begin(const BlobUse &subject, std::uint32_t deadline, int *slot) = 0;
  // This thread has left the driver, whose work goes on.
  virtual void leave(int slot) = 0;
  // After it. Records a verdict other than untried, which is for an orderly failure. With
  // slot -1 only the verdict is recorded.
  virtual void end(int slot, const BlobUse &subject, Verdict verdict) = 0;

 protected:
  ~Guard() = default;
};

// What the driver is asked to do with one subject, behind a marker. For one thread.
class Guarded {
 public:
  // Writes the marker, unless `guard` is null or the driver is known to survive the subject. The
  // subject's deadline is in milliseconds, 0 for none.
  Guarded(Guard *guard, const BlobUse &subject, std::uint32_t deadline);
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  ~Guarded() { end(Verdict::untried); }

  // Whether the marker could be written, where one is needed.
  const packs::Status &status() const { return status_; }
  // The driver has come back; may be called again with what was found out later.
  void end(Verdict verdict);

 private:
  Guard *guard_;
  BlobUse subject_;
  int slot_ = -1;
  packs::Status status_;
};

struct LoadedProgram;
struct Report;

// Of one loader; shared with the launches that it marks. Any thread may call.
class Persistence {
 public:
  virtual ~Persistence() = default;

  virtual Guard &guard() = 0;

  // A binary of this device's own, and its id in journals. `*bytes` owns what `binary` points to.
  struct Stored {
    packs::View binary;
    std::uint64_t id = 0;
    packs::Finality finality = packs::Finality::no;
  };
  // Code::not_found if there is none that this driver takes; another code if it cannot be read.
  virtual packs::Status find(const packs::Digest &variant, packs::Bytes *bytes,
                             Stored *out) const = 0;

  // Remembers what the compiler said when it refused a subject, and gives the log, and in `why` the
  // reason, of an earlier start; "" and `why` as it was if they are gone.
  virtual void keep_refusal(std::uint64_t id, const std::string &why,
                            const std::string &log) const = 0;
  virtual std::string refusal(std::uint64_t id, std::string *why) const = 0;

  // After a load: stores the driver's own binary if that saves the next start a compilation. Sets
  // LoadedProgram::to_finish, adds a note to the load's report, and notifies the application.
  virtual void keep(LoadedProgram *program, Report *report) = 0;
  // Makes the program's binary final and stores it, if LoadedProgram::to_finish is set, and
  // notifies the application.
  virtual void finish(LoadedProgram *program) = 0;
};

// Names "kernel `index` of what was given to the driver as `subject` was launched".
std::uint64_t launch_id(const BlobUse &subject, unsigned index);
inline constexpr unsigned kMarkedKernels =
    64;  // per program; launches of its later kernels are not marked

// Ok if the kernels of `subject` may be launched, else why the subject is in quarantine.
// `last` and `dry_run` are as Guard::check() has them.
packs::Status check_launches(Guard *guard, const BlobUse &subject, std::size_t kernels,
                             bool last = false, bool dry_run = false);

// Names work on the driver's binary of a variant.
enum class Work : unsigned {
  heal = 1,  // making a new one, because the driver recompiled the one that was there
  ask = 2,
  link = 3
};
std::uint64_t work_id(packs::VariantRef variant, Work what);

}  // namespace kiln::runtime
