// SPDX-License-Identifier: Apache-2.0
// What a load that succeeded gives.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/load/build.hpp"
#include "runtime/load/loader.hpp"

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

// The variant's kernels as the driver must show them.
std::vector<ExpectedKernel> expected_kernels(packs::VariantRef variant);

}  // namespace kiln::runtime
