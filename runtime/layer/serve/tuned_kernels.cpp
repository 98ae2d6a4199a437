// SPDX-License-Identifier: Apache-2.0
// Looks up a kernel's sizes when it is created, so that a launch finds them by its handle alone.
#include "runtime/layer/serve/tuned_kernels.hpp"

#include <algorithm>
#include <optional>

#include "runtime/layer/record/launches.hpp"
#include "runtime/load/tuning.hpp"

namespace kiln::layer {
namespace {

using Size = std::array<std::size_t, 3>;
using TunedLock = std::lock_guard<std::mutex>;

// The kernel's limits on its device; none if the kernel requires a size.
struct Limits {
  std::size_t items = 0;
  const std::size_t *sides;

  bool allow(const Size &local) const {
    std::size_t room = items;
    for (std::size_t i = 0; i < local.size(); ++i) {
      if (local[i] > sides[i] || local[i] > room) return false;
      room /= local[i];
    }
    return true;
  }
};

// Returns the class of the number of work-items, which may exceed the range of a number.
std::size_t class_of(const Size &range) {
  std::uint64_t items = 1;
  for (const std::size_t side : range) {
    items = std::min(items, packs::kLargeWorkItems) *
            std::min<std::uint64_t>(side, packs::kLargeWorkItems);
  }
  return static_cast<std::size_t>(packs::size_class(items));
}

std::optional<Limits> limits_of(cl_kernel kernel, const runtime::Device &device) {
  Limits limits{0, device.capabilities.max_work_item_sizes};
  Size required{};
  const auto ask = [&](cl_kernel_work_group_info what, auto *out) {
    return next.clGetKernelWorkGroupInfo(kernel, device.id, what, sizeof(*out), out, nullptr) ==
           CL_SUCCESS;
  };
  const bool known = ask(CL_KERNEL_WORK_GROUP_SIZE, &limits.items) &&
                     ask(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, &required);
  return known && required[0] == 0 ? std::optional(limits) : std::nullopt;
}

}  // namespace

void TunedKernels::add(cl_kernel kernel, const TunedProgram &of) {
  if (of.pack == nullptr) return;
  const runtime::Device &device = *of.device->device;
  const std::string name = kernel_name(kernel);
  Sizes sizes;
  bool has_any = false;
  std::optional<Limits> limits;
  for (std::size_t i = 0; i < packs::kSizeClasses; ++i) {
    runtime::TuningLevel level{};
    const packs::TuningRef row = runtime::find_tuning(
        *of.pack->pack, {of.program, of.variant, name, static_cast<packs::SizeClass>(i)},
        device.description, device.key().hash(), &level);
    if (!row) continue;
    if (!has_any && !(limits = limits_of(kernel, device))) return;
    has_any = true;
    const auto local = row.local_size();
    const Size size{local[0], local[1], local[2]};
    if (limits->allow(size)) sizes[i] = size;
  }
  const TunedLock lock(mutex_);
  if (!has_any) return kernels_.forget(kernel);
  kernels_.add(kernel, sizes);
  has_sizes_ = true;
}

void TunedKernels::add_clone(cl_kernel clone, cl_kernel of) {
  if (is_idle()) return;
  const TunedLock lock(mutex_);
  kernels_.add_clone(clone, of);
}

void TunedKernels::retain(cl_kernel kernel) {
  if (is_idle()) return;
  const TunedLock lock(mutex_);
  kernels_.retain(kernel);
}

void TunedKernels::release(cl_kernel kernel) {
  if (is_idle()) return;
  const TunedLock lock(mutex_);
  kernels_.release(kernel);
}

bool TunedKernels::find(cl_kernel kernel, cl_uint dimensions, const std::size_t *global,
                        std::array<std::size_t, 3> *local) const {
  Size range{1, 1, 1};
  std::copy_n(global, dimensions, range.begin());
  const TunedLock lock(mutex_);
  const Sizes *sizes = kernels_.find(kernel);
  if (sizes == nullptr) return false;
  *local = (*sizes)[class_of(range)];
  return runtime::divides(*local, range);
}

void TunedKernels::forget(cl_kernel kernel) {
  const TunedLock lock(mutex_);
  if (Sizes *sizes = kernels_.find(kernel)) *sizes = {};
}

TunedKernels &tuned_kernels() {
  static TunedKernels &all = *new TunedKernels;
  return all;
}

}  // namespace kiln::layer
