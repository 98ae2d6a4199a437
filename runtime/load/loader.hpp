// SPDX-License-Identifier: Apache-2.0
// The state that all loads of an application share, and the result of a successful load.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kiln/packs/known_bad.hpp"
#include "kiln/packs/pack.hpp"
#include "runtime/device/device.hpp"
#include "runtime/load/build.hpp"
#include "runtime/load/persistence.hpp"

namespace kiln::runtime {

// The combined notes about one device's driver: Kiln's own and the application's.
struct DriverNotes {
  unsigned flags = 0;   // KILN_DRIVER_* bits
  std::string options;  // each with a space before it
};

// Adds the note to `*out` if it is about the device.
void add_driver_note(const kiln_driver_note &note, const Identity &identity,
                     const Description &description, DriverNotes *out);

// Returns Kiln's own notes about the device.
DriverNotes known_driver_notes(const Identity &identity, const Description &description);

// Checks the parts of a pack. This is an interface, which runtime/trust implements. It is shared
// with the pack, which may outlive the loader.
class Trust : public packs::NameCheck {
 public:
  // Returns Code::untrusted with the fault if faults are only reported (KILN_TRUST_WARN), else ok.
  virtual Status distrust() const = 0;
  // Returns a number that stands for the keys if signatures are required; else 0.
  virtual std::uint64_t number() const = 0;
};

// A device, a context that holds the device, a pack, and the application's options. Shared between
// threads, and immutable except for persistence and scratch memory, which are guarded, and a flag.
struct Loader {
  std::shared_ptr<const Device> device;
  std::shared_ptr<const packs::Pack> pack;
  std::shared_ptr<const Trust> trust;  // checks `pack`; null: no signatures are required
  Handle<cl_context> context;
  DriverNotes notes;
  std::vector<std::uint32_t> known_bad;  // numbers of the pack's notes that are about the device
  unsigned hints = 0;                    // KILN_HINT_* bits of a context of Kiln's own

  std::shared_ptr<Persistence> persistence;  // null: none
  std::string no_overlay = "no overlay";     // why there is no persistence, for people
  std::uint32_t deadline_milliseconds = 0;
  kiln_notice_function notice = nullptr;
  void *notice_user = nullptr;

  mutable std::atomic<bool> compiler_unloaded{false};  // the driver was asked for it at least once

  // Memory for decoding binaries, kept from load to load; a thread that finds it in use takes
  // memory of its own.
  mutable packs::Bytes scratch;
  mutable std::mutex scratch_mutex;
};

// Sets the loader's known-bad notes. The loader has its device and its pack.
void select_known_bad(Loader *loader);

// Returns those of `rungs`, bits 1 << kiln_rung, that known-bad notes leave out for the variant. If
// there are any, sets `*reason`.
unsigned known_bad_rungs(const Loader &loader, std::string_view program, packs::VariantRef variant,
                         unsigned rungs, std::string_view *reason);

// Calls the application's notice function, if there is one.
void notify(const Loader &loader, const kiln_notice &notice);

// Asks the driver for its binary of `program`. Some drivers do not survive this, so a marker guards
// the call unless `persistence` is null. Fails with Code::failed if an earlier start did not
// survive it, or if a driver note forbids it.
Status ask_for_binary(const Device &device, const DriverNotes &notes, Persistence *persistence,
                      std::uint32_t deadline, const packs::Digest &variant, cl_program program,
                      packs::Bytes *out);
Status ask_for_binary(const Loader &loader, packs::VariantRef variant, cl_program program,
                      packs::Bytes *out);

// A variant that the ladder loaded. The kernels that were made to check it are kept, in the
// variant's order, for the first caller that asks for them.
struct LoadedProgram {
  std::shared_ptr<const Loader> loader;
  std::string name;
  packs::VariantRef variant;
  BuiltProgram built;  // guarded by `mutex`: kernels are taken out
  std::mutex mutex;

  DriverTask task;  // which loaded the program
  // Bit i: a marker must guard the first launch of kernel i, since the driver has not proven to
  // survive it. Kernels after the first 64 are never marked.
  mutable std::atomic<std::uint64_t> to_prove{0};
  mutable std::atomic<bool> launched{false};
  std::atomic<bool> to_finish{false};  // the overlay has no final binary of the program
  std::atomic<bool> to_store{false};   // what the driver compiled is not in the overlay yet
};

// Returns the variant's kernels, which the driver's program must have.
std::vector<ExpectedKernel> expected_kernels(packs::VariantRef variant);

}  // namespace kiln::runtime
