// SPDX-License-Identifier: Apache-2.0
// Work-group sizes that were measured, for launches that leave the size to the driver.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/api/api.hpp"
#include "runtime/spool/next.hpp"

namespace kiln::layer {

// What a pack measured of a program that it serves for one device.
struct TunedProgram {
  // Of the layer's packs and devices, which it never closes; null: nothing was measured.
  const kiln_pack *pack = nullptr;
  const kiln_device *device = nullptr;
  std::string program{};
  std::string variant{};
};

// Any thread may call anything.
class TunedKernels {
 public:
  // A kernel that was made of the program. Nothing is asked of the driver where the pack has no
  // size for it. A kernel with a required size has none.
  void add(cl_kernel kernel, const TunedProgram &of);
  void add_clone(cl_kernel clone, cl_kernel of);
  void retain(cl_kernel kernel);
  // Before the driver may give its handle to another.
  void release(cl_kernel kernel);

  // Whether no kernel had a size yet.
  bool is_idle() const { return !has_sizes_; }
  // The size for a launch over `global`, with 1 in the dimensions that are not used. False where
  // there is none for so many work-items, or it does not divide the range.
  bool find(cl_kernel kernel, cl_uint dimensions, const std::size_t *global,
            std::array<std::size_t, 3> *local) const;
  // The driver does not take the size that find() gave.
  void forget(cl_kernel kernel);

 private:
  struct Sizes {
    std::array<std::array<std::size_t, 3>, packs::kSizeClasses> of_class{};  // 0: none
    unsigned references = 1;
  };

  mutable std::mutex mutex_;
  std::unordered_map<cl_kernel, Sizes> kernels_;
  std::atomic<bool> has_sizes_{false};
};

// Never destroyed, as Objects.
TunedKernels &tuned_kernels();

}  // namespace kiln::layer
