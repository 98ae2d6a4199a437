// SPDX-License-Identifier: Apache-2.0
// What every load of an application has in common, and what a load that succeeded gives.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kiln/packs/pack.hpp"
#include "runtime/device/device.hpp"
#include "runtime/load/build.hpp"
#include "runtime/load/persistence.hpp"

namespace kiln::runtime {

// What is known of a driver's mistakes: what Kiln's own notes and the application's about one
// device come to.
struct DriverNotes {
  unsigned flags = 0;   // KILN_DRIVER_* bits
  std::string options;  // each with a space before it
};

// If the note is about the device.
void add_driver_note(const kiln_driver_note &note, const Identity &identity,
                     const Description &description, DriverNotes *out);

// Kiln's own notes about the device.
DriverNotes known_driver_notes(const Identity &identity, const Description &description);

// Checks the parts of a pack: a plug point that runtime/trust implements. Shared with the pack,
// which may outlive the loader.
class Trust : public packs::NameCheck {
 public:
  // What would have been refused, where that is only to be told: Code::untrusted.
  virtual Status told() const = 0;
  // A number that stands for the keys where they are required; else 0.
  virtual std::uint64_t number() const = 0;
};

// A device, a context that holds it, a pack, and what the application asked for. Immutable
// but for what it remembers, which guards itself, and a flag; shared between threads.
struct Loader {
  std::shared_ptr<const Device> device;
  std::shared_ptr<const packs::Pack> pack;
  std::shared_ptr<const Trust> trust;  // what `pack` is checked by; null: nothing is demanded
  Handle<cl_context> context;
  DriverNotes notes;
  unsigned hints = 0;  // KILN_HINT_* bits of a context of Kiln's own

  std::shared_ptr<Persistence> persistence;  // null: none
  std::string no_overlay = "no overlay";     // then why, for people
  std::uint32_t deadline_milliseconds = 0;
  kiln_notice_function notice = nullptr;
  void *notice_user = nullptr;
  kiln_check_function check = nullptr;
  void *check_user = nullptr;
  // Whether `check` finds the program's results right; null without a check. The C API sets it,
  // since it makes the handle that `check` takes.
  bool (*passes_check)(const Loader &, const std::shared_ptr<LoadedProgram> &) = nullptr;

  mutable std::atomic<bool> compiler_unloaded{false};  // the driver was asked to, once at least

  // Where binaries are decoded, kept from load to load; a thread that finds it in use takes
  // memory of its own.
  mutable packs::Bytes scratch;
  mutable std::mutex scratch_mutex;
};

// Tells the application, if it listens.
void notify(const Loader &loader, const kiln_notice &notice);

// The loader's guard; null without persistence.
Guard *guard_of(const Loader &loader);

// Asks the driver for its binary of `program`, which some do not survive: behind a marker, where
// the loader has a guard. Code::failed if an earlier start did not survive it.
Status ask_for_binary(const Loader &loader, packs::VariantRef variant, cl_program program,
                      packs::Bytes *out);

// A variant that the ladder loaded. The kernels made to check it are kept, in the
// variant's order, for the first that asks.
struct LoadedProgram {
  std::shared_ptr<const Loader> loader;
  std::string name;
  packs::VariantRef variant;
  BuiltProgram built;  // guarded by `mutex`: kernels are taken out
  std::mutex mutex;

  BlobUse subject;  // what was given to the driver
  // Bit i: the first launch of kernel i has not proven to be survived, and is to be marked. Kernels
  // from the 64th on are not.
  mutable std::atomic<std::uint64_t> to_prove{0};
  mutable std::atomic<bool> launched{false};
  std::atomic<bool> to_finish{false};  // the overlay has no final binary of it
};

// The variant's kernels as the driver must show them.
std::vector<ExpectedKernel> expected_kernels(packs::VariantRef variant);

}  // namespace kiln::runtime
