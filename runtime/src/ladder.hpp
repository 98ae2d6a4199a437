// Loading a variant: exact binary, IL, source, or an error that says why.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "build.hpp"
#include "report.hpp"

namespace kiln::runtime {

// A device, a context that holds it, and a pack. Immutable; shared between threads.
struct Loader {
  std::shared_ptr<const Device> device;
  std::shared_ptr<const packs::Pack> pack;
  Handle<cl_context> context;

  // Where binaries are decoded, kept from load to load; a thread that finds it in use takes
  // memory of its own.
  mutable packs::Bytes scratch;
  mutable std::mutex scratch_mutex;
};

// A variant that the ladder loaded. The kernels made to check it are kept, in the
// variant's order, for the first that asks.
struct LoadedProgram {
  std::shared_ptr<const Loader> loader;
  const packs::fb::Variant *variant = nullptr;
  BuiltProgram built;  // guarded by `mutex`: kernels are taken out
  std::mutex mutex;
};

// Walks the ladder for `program`; an empty `variant` takes the first by name whose
// requirements the device meets. `flags` are the KILN_LOAD_* bits. The report is filled
// whatever happens; `*out` only on success.
Error load(const std::shared_ptr<const Loader> &loader, const std::string &program,
           const std::string &variant, unsigned flags, std::shared_ptr<LoadedProgram> *out,
           Report *report);

// The variant's kernels as the driver must show them.
std::vector<ExpectedKernel> expected_kernels(const packs::fb::Variant &variant);

}  // namespace kiln::runtime
