// Loading a variant: overlay, exact binary, compatible binary, IL, source, or an error that
// says why.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "build.hpp"
#include "overlay.hpp"
#include "report.hpp"

namespace kiln::runtime {

struct LoadedProgram;

// A device, a context that holds it, a pack, and what the application asked for. Immutable
// but for the overlay, which guards itself; shared between threads.
struct Loader {
  std::shared_ptr<const Device> device;
  std::shared_ptr<const packs::Pack> pack;
  Handle<cl_context> context;
  unsigned hints = 0;  // KILN_HINT_* bits of a context of Kiln's own

  std::shared_ptr<Overlay> overlay;  // null: none
  std::string no_overlay;            // then why, for people: "no overlay"
  std::uint32_t deadline_milliseconds = 0;
  kiln_notice_function notice = nullptr;
  void *notice_user = nullptr;
  kiln_check_function check = nullptr;
  void *check_user = nullptr;

  // Where binaries are decoded, kept from load to load; a thread that finds it in use takes
  // memory of its own.
  mutable packs::Bytes scratch;
  mutable std::mutex scratch_mutex;
};

// A variant that the ladder loaded. The kernels made to check it are kept, in the
// variant's order, for the first that asks.
struct LoadedProgram {
  std::shared_ptr<const Loader> loader;
  std::string name;
  const packs::fb::Variant *variant = nullptr;
  BuiltProgram built;  // guarded by `mutex`: kernels are taken out
  std::mutex mutex;

  Subject subject;  // what was given to the driver
  // Bit i: the first launch of kernel i has not proven to be survived, and is to be marked. Kernels
  // from the 64th on are not.
  mutable std::atomic<std::uint64_t> to_prove{0};
  mutable std::atomic<bool> launched{false};
  std::atomic<bool> to_finish{false};  // the overlay has no final binary of it
};

// Walks the ladder for a variant. `flags` are the KILN_LOAD_* bits. The report, whose program
// and variant are set already, is filled whatever happens; `*out` only on success.
Error climb(const std::shared_ptr<const Loader> &loader, const packs::fb::Variant &variant,
            unsigned flags, std::shared_ptr<LoadedProgram> *out, Report *report);

// Tells the application, if it listens.
void notify(const Loader &loader, const kiln_notice &notice);

// Whether the application's check, if it has one, finds the program's results right.
bool passes_check(const Loader &loader, const std::shared_ptr<LoadedProgram> &program);

// The variant's kernels as the driver must show them.
std::vector<ExpectedKernel> expected_kernels(const packs::fb::Variant &variant);

}  // namespace kiln::runtime
