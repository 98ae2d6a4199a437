// SPDX-License-Identifier: Apache-2.0
// Measured work-group sizes, for launches that leave the size to the driver.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "runtime/api/api.hpp"
#include "runtime/layer/base/counted_handles.hpp"
#include "runtime/layer/base/next.hpp"

namespace kiln::layer {

// A program that a pack serves for one device, with the pack that may hold measured sizes.
struct TunedProgram {
  // Owned by the layer, which never closes its packs and devices; null: no measured sizes.
  const kiln_pack *pack = nullptr;
  const kiln_device *device = nullptr;
  std::string program{};
  std::string variant{};
};

// The measured sizes of kernels. Thread-safe.
class TunedKernels {
 public:
  // Adds a kernel of the program. Queries the driver only if the pack has a size for the kernel. A
  // kernel with a required size gets none.
  void add(cl_kernel kernel, const TunedProgram &of);
  void add_clone(cl_kernel clone, cl_kernel of);
  void retain(cl_kernel kernel);
  // Called before the driver may reuse the handle.
  void release(cl_kernel kernel);

  // Returns whether no kernel has had a size yet.
  bool is_idle() const { return !has_sizes_; }
  // Finds the size for a launch over `global`, with 1 in unused dimensions. Returns false if there
  // is none for this number of work-items, or if it does not divide the range.
  bool find(cl_kernel kernel, cl_uint dimensions, const std::size_t *global,
            std::array<std::size_t, 3> *local) const;
  // Drops the kernel's sizes: the driver refused the one from find().
  void forget(cl_kernel kernel);

 private:
  using Sizes = std::array<std::array<std::size_t, 3>, packs::kSizeClasses>;  // 0: none

  mutable std::mutex mutex_;
  CountedHandles<cl_kernel, Sizes> kernels_;
  std::atomic<bool> has_sizes_{false};
};

// Never destroyed, like objects().
TunedKernels &tuned_kernels();

}  // namespace kiln::layer
