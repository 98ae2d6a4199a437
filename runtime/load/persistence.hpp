// SPDX-License-Identifier: Apache-2.0
// A loader's memory beyond the process: which bytes the driver survived, and which binaries this
// device made itself. This is an interface, which runtime/overlay implements; a loader without an
// implementation remembers nothing.
#pragma once

#include <cstdint>
#include <string>

#include "kiln/kiln.h"
#include "kiln/packs/pack.hpp"

namespace kiln::runtime {

enum class Verdict : std::uint8_t {
  untried = 0,
  proven = 1,       // loaded unchanged (for a binary: the driver gave back the same bytes)
  recompiled = 2,   // loaded, after the driver recompiled it
  crashed = 3,      // a process ended inside the driver
  binary_read = 5,  // the driver or its linker gave a binary for the overlay
  stuck = 6,        // in memory only: another living process is in the driver past its deadline
  passed_over = 8,  // skipped at one start because of its history
  taken = 9,        // loaded; not checked whether the driver took the binary unchanged
  refused = 10,     // the compiler refused it without crashing
  not_linked = 11,  // the linker refused the PTX, or the driver the cubin
  healed = 12       // the overlay's binary was made anew because the driver recompiled it
};

// Returns whether the driver survived the task, which then needs no marker any more.
inline bool is_known(Verdict verdict) {
  return verdict == Verdict::proven || verdict == Verdict::recompiled ||
         verdict == Verdict::binary_read || verdict == Verdict::taken;
}

// A rung's number as stored on disk, or kNoLoad.
class RungByte {
 public:
  constexpr RungByte(kiln_rung rung = KILN_RUNG_ERROR)  // NOLINT(google-explicit-constructor)
      : value_(static_cast<std::uint8_t>(rung)) {}
  constexpr explicit RungByte(std::uint8_t value) : value_(value) {}

  constexpr std::uint8_t value() const { return value_; }
  // Returns the rung to show to people; KILN_RUNG_ERROR if there is none.
  kiln_rung rung() const;
  // Returns whether it is a rung of the ladder, or KILN_RUNG_ERROR.
  bool is_rung() const;
  // Returns whether the rung compiles IL or source, which takes so long that the application is
  // often ended meanwhile.
  bool is_slow() const;

  friend constexpr bool operator==(RungByte a, RungByte b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(RungByte a, RungByte b) { return !(a == b); }

 private:
  std::uint8_t value_;
};

// Stands in place of a rung for work that is not a load: linking and building again for the
// overlay, first launches, unloading the compiler, asking for work-group sizes. No rung will ever
// have this number.
inline constexpr RungByte kNoLoad{std::uint8_t{0xff}};

// A task that may crash the driver: loading given bytes, linking, a first launch. The id names the
// bytes together with the way they are built; OVERLAY.md lists all ids.
struct DriverTask {
  std::uint64_t id = 0;
  RungByte rung;
};

// The history of one task.
struct History {
  Verdict last = Verdict::untried;  // ignores passed_over
  unsigned deaths = 0;              // since it was last proven; one for each process
  unsigned passed_over = 0;         // starts since the last death or refusal
  unsigned refusals = 0;            // since it was last proven
  std::uint16_t marker = 0;         // the marker that recorded the last death
  bool stuck = false;               // see Verdict::stuck
};

// Remembers which tasks a driver survived. Any thread may call.
class Guard {
 public:
  virtual History history(std::uint64_t id) const = 0;
  Verdict verdict(std::uint64_t id) const { return history(id).last; }
  // Returns ok if the task may be tried, else why it is in quarantine. `last`: nothing else is
  // left to try. Records that a task was skipped, once for this object; with `dry_run` records
  // nothing.
  virtual packs::Status check(const DriverTask &task, bool last, bool dry_run) = 0;
  packs::Status check(const DriverTask &task) { return check(task, false, false); }
  // Returns whether the task is skipped because of its own history, whatever other tasks did
  // on its rung.
  virtual bool passes_over(const DriverTask &task, bool last, bool dry_run) = 0;

  // Writes a marker before the driver sees an unproven task; called on the thread that calls the
  // driver. `deadline` is in milliseconds, 0 for none. `*slot` is set only on success.
  virtual packs::Status begin(const DriverTask &task, std::uint32_t deadline, int *slot) = 0;
  // Says that this thread has left the driver, while the driver's work goes on.
  virtual void leave(int slot) = 0;
  // Ends the attempt. Records the verdict, unless it is untried, which stands for an orderly
  // failure. With slot -1 only the verdict is recorded.
  virtual void end(int slot, const DriverTask &task, Verdict verdict) = 0;

 protected:
  ~Guard() = default;
};

// Guards the driver's work on one task with a marker. For one thread.
class Guarded {
 public:
  // Writes the marker, unless `guard` is null or the driver is known to survive the task.
  // `deadline` is in milliseconds, 0 for none.
  Guarded(Guard *guard, const DriverTask &task, std::uint32_t deadline);
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  ~Guarded() { end(Verdict::untried); }

  // Returns ok if the marker was written or is not needed.
  const packs::Status &status() const { return status_; }
  // Says that the driver has come back; may be called again with a later verdict.
  void end(Verdict verdict);

 private:
  Guard *guard_;
  DriverTask task_;
  int slot_ = -1;
  packs::Status status_;
};

struct BuildOutcome;
struct LoadedProgram;
struct Report;

// The memory of one loader, shared with the launches that it marks. Any thread may call.
class Persistence {
 public:
  virtual ~Persistence() = default;

  virtual Guard &guard() = 0;

  // A binary that this device made, and its id in journals. find() puts the bytes that `binary`
  // points to into `*bytes`.
  struct Stored {
    packs::View binary;
    std::uint64_t id = 0;
    packs::Finality finality = packs::Finality::no;
  };
  // Finds the binary of a variant that was stored with the same `left_out`, which is what
  // known_bad_rungs() returns for all rungs. Fails with Code::not_found if there is none that this
  // driver takes, and with another code if it cannot be read.
  virtual packs::Status find(const packs::Digest &variant, unsigned left_out, packs::Bytes *bytes,
                             Stored *out) const = 0;

  // keep_refusal() stores the compiler's reason and log when it refused a program. refusal()
  // returns the log of an earlier start and sets `*why` to the reason; if they are gone it returns
  // "" and leaves `*why` unchanged.
  virtual void keep_refusal(std::uint64_t id, const std::string &why,
                            const std::string &log) const = 0;
  virtual std::string refusal(std::uint64_t id, std::string *why) const = 0;

  // Called after a load: stores the driver's own binary if that saves the next start a compilation,
  // adds a note to the load's report, and notifies the application. Where asking for the binary
  // compiles, sets LoadedProgram::to_store instead. Sets LoadedProgram::to_finish.
  virtual void keep(LoadedProgram *program, Report *report) = 0;
  // Stores the binary, final if that is possible, of a program that has to_finish or to_store set,
  // and notifies the application.
  virtual void finish(LoadedProgram *program) = 0;
};

// Returns the id of launching kernel `index` of the program that `task` loaded.
std::uint64_t launch_id(const DriverTask &task, unsigned index);
// Kernels of a program whose launches are marked; launches of its later kernels are not.
inline constexpr unsigned kMarkedKernels = 64;

// Returns ok if `task` may load a program with that many kernels and they may be launched, else why
// the task is in quarantine. `last` and `dry_run` are as for Guard::check().
packs::Status check_load(Guard *guard, const DriverTask &task, std::size_t kernels,
                         bool last = false, bool dry_run = false);
// Returns the kernels that the driver is not known to survive launching: bit i for kernel i.
std::uint64_t unproven_launches(const Guard &guard, const DriverTask &task, std::size_t kernels);

// What a load reports about a task that it passes over.
struct PassedOver {
  kiln_outcome outcome = KILN_OUTCOME_QUARANTINED;
  std::string reason;
  std::string log{};
};
// Reports the task as quarantined, for check_load()'s reason. If it is in quarantine only because
// the compiler refused it in an earlier run, reports it as failed instead, with the log kept from
// that run.
PassedOver passed_over(Persistence &persistence, const DriverTask &task,
                       const packs::Status &quarantine);
// Remembers a build that failed if the compiler refused the program and would do so again. Running
// out of memory, for example, is not such a refusal.
void keep_refusal(Persistence &persistence, const DriverTask &task, const BuildOutcome &outcome,
                  Guarded *guarded);

// Tasks on the driver's binary of a variant.
enum class BinaryTask : unsigned {
  heal = 1,  // make a new binary, because the driver recompiled the stored one
  ask = 2,
  link = 3,
  build_again = 4  // for a binary that holds the code of all launches so far
};
std::uint64_t task_id(packs::VariantRef variant, BinaryTask what);

}  // namespace kiln::runtime
