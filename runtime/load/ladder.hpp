// SPDX-License-Identifier: Apache-2.0
// Loading a variant: overlay, exact binary, compatible binary, IL, source, or an error that
// says why.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/load/build.hpp"
#include "runtime/load/loader.hpp"
#include "runtime/load/report.hpp"

namespace kiln::runtime {

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

// Walks the ladder for a variant. `flags` are the KILN_LOAD_* bits. The report, whose program
// and variant are set already, is filled whatever happens; `*out` only on success.
Status climb(const std::shared_ptr<const Loader> &loader, packs::VariantRef variant, unsigned flags,
             std::shared_ptr<LoadedProgram> *out, Report *report);

// Among the flags: without the driver, what the rungs would come to, down to the first that would
// be tried. Nothing is recorded, the application is told nothing, and `*out` stays as it is.
inline constexpr unsigned kForesee = 1u << 31;

// The variant's kernels as the driver must show them.
std::vector<ExpectedKernel> expected_kernels(packs::VariantRef variant);

}  // namespace kiln::runtime
