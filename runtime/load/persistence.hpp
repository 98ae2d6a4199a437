// SPDX-License-Identifier: Apache-2.0
// A loader's memory beyond the process: what happened when a driver was given a task, and which
// binaries this device made itself. This is an interface, which runtime/overlay implements; a
// loader without an implementation remembers nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kiln/kiln.h"
#include "kiln/packs/pack.hpp"

namespace kiln::runtime {

// A task that may crash the driver: loading given bytes, linking, a first launch. The id names the
// bytes together with the way they are built; OVERLAY.md lists all ids.
struct DriverTask {
  std::uint64_t id = 0;
  // The rung of a load; KILN_RUNG_ERROR for asking the driver for its binary; absent for any other
  // step: linking and building again, first launches, unloading the compiler.
  std::optional<kiln_rung> rung{};
};

// What is recorded of a task.
enum class Event : std::uint8_t {
  none,        // nothing
  proven,      // loaded unchanged (for a binary: the driver gave back the same bytes), or launched
  recompiled,  // loaded, after the driver recompiled it
  taken,       // loaded; not checked whether the driver took the binary unchanged
  given,       // the driver or its linker gave a binary for the overlay
  refused,     // the compiler refused it without crashing
  not_linked,  // the linker refused the PTX, or the driver the cubin
  healed,      // the overlay's binary was made anew because the driver recompiled it
  died,        // a process ended inside the driver
  passed_over  // skipped at one start because of its history
};

// Returns whether the event shows that the driver survives the task, which then needs no marker.
inline bool survived(Event event) {
  return event == Event::proven || event == Event::recompiled || event == Event::taken ||
         event == Event::given;
}

// Kernels of a program whose launches are marked; launches of its later kernels are not.
inline constexpr unsigned kMarkedKernels = 64;

// What check() needs to know of a task.
struct CheckOptions {
  std::size_t kernels = 0;   // of the program that is loaded: their launches are checked, too
  bool last = false;         // nothing else is left to try
  bool dry_run = false;      // nothing is recorded
  bool is_optional = false;  // leaving out the task loses nothing
};
inline constexpr CheckOptions kOptional{0, false, false, true};

// The history of a task. If the task is passed over because of it, `outcome` and `reason` say why.
struct Checked {
  Event last = Event::none;    // ignores passed_over
  std::uint64_t unproven = 0;  // bit i: the driver is not known to survive launching kernel i
  kiln_outcome outcome = KILN_OUTCOME_LOADED;
  std::string reason{};
  std::string log{};  // the compiler's, if it refused the task in an earlier run

  explicit operator bool() const { return outcome == KILN_OUTCOME_LOADED; }
};

// An attempt's marker, which the destructor removes: the driver has come back.
class Marker {
 public:
  virtual ~Marker() = default;
  // Says that this thread has left the driver, while the driver's work goes on.
  virtual void leave() = 0;
};

struct LoadedProgram;
struct Report;

// The memory of one loader, shared with the launches that it marks. Any thread may call.
class Persistence {
 public:
  virtual ~Persistence() = default;

  // Looks up a task's history, and decides whether the task may be tried. Records that it is passed
  // over, once for this object.
  virtual Checked check(const DriverTask &task, const CheckOptions &options) = 0;
  // Writes a marker before the driver sees the task, unless the driver is known to survive it;
  // called on the thread that calls the driver. `deadline` is in milliseconds, 0 for none. `*out`
  // must be gone before this object.
  virtual packs::Status attempt(const DriverTask &task, std::uint32_t deadline,
                                std::unique_ptr<Marker> *out) = 0;
  // Records what came of an attempt. `text` is the compiler's message of a refusal: the reason, a
  // line feed, its log; else empty.
  virtual void record(const DriverTask &task, Event event, std::string_view text) = 0;

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
  // Stores the driver's own binary of a program if that saves the next start a compilation, and
  // notifies the application. Called after a load, with its report, which gets a note. Called again
  // with null when the application has time: only then is the binary made final, and only then are
  // drivers asked that compile when they are asked for a binary.
  virtual void store(LoadedProgram *program, Report *report) = 0;
};

// One attempt at a task, behind a marker. For one thread.
class Attempt {
 public:
  // `persistence` may be null. `deadline` is as for Persistence::attempt().
  Attempt(Persistence *persistence, const DriverTask &task, std::uint32_t deadline);
  Attempt(const Attempt &) = delete;
  Attempt &operator=(const Attempt &) = delete;

  // Returns ok if the marker was written or is not needed.
  const packs::Status &status() const { return status_; }
  // Says that the driver has come back; may be called again with a later event. `text` is as for
  // Persistence::record().
  void end(Event event, std::string_view text = {});

 private:
  Persistence *persistence_;
  DriverTask task_;
  std::unique_ptr<Marker> marker_;
  packs::Status status_;
};

// Tasks on the driver's binary of a variant.
enum class BinaryTask : unsigned {
  heal = 1,  // make a new binary, because the driver recompiled the stored one
  ask = 2,
  link = 3,
  build_again = 4  // for a binary that holds the code of all launches so far
};
std::uint64_t task_id(const packs::Digest &variant, BinaryTask what);

// Returns the id of launching kernel `index` of the program that `task` loaded.
std::uint64_t launch_id(const DriverTask &task, unsigned index);

}  // namespace kiln::runtime
