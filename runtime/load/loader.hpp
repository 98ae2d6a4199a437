// SPDX-License-Identifier: Apache-2.0
// What every load of an application has in common.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "kiln/packs/pack.hpp"
#include "runtime/device/device.hpp"
#include "runtime/load/driver_notes.hpp"
#include "runtime/load/pack_trust.hpp"
#include "runtime/overlay/overlay.hpp"

namespace kiln::runtime {

struct LoadedProgram;

// A device, a context that holds it, a pack, and what the application asked for. Immutable
// but for the overlay, which guards itself, and a flag; shared between threads.
struct Loader {
  std::shared_ptr<const Device> device;
  std::shared_ptr<const packs::Pack> pack;
  std::shared_ptr<const PackTrust> trust;  // what `pack` is checked by; null: nothing is demanded
  Handle<cl_context> context;
  DriverNotes notes;
  unsigned hints = 0;  // KILN_HINT_* bits of a context of Kiln's own

  std::shared_ptr<Overlay> overlay;  // null: none
  std::string no_overlay;            // then why, for people: "no overlay"
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

}  // namespace kiln::runtime
