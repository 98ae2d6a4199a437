// SPDX-License-Identifier: Apache-2.0
// Guards calls of the driver with markers, and names their tasks.
#include "runtime/load/persistence.hpp"

#include "kiln/packs/bytes.hpp"

namespace kiln::runtime {

Guarded::Guarded(Guard *guard, const DriverTask &task, std::uint32_t deadline)
    : guard_(guard), task_(task) {
  if (guard == nullptr || is_known(guard->verdict(task.id))) return;
  status_ = guard->begin(task, deadline, &slot_);
}

void Guarded::end(Verdict verdict) {
  if (guard_ != nullptr) guard_->end(slot_, task_, verdict);
  slot_ = -1;
}

std::uint64_t launch_id(const DriverTask &task, unsigned index) {
  const std::uint64_t words[] = {task.id, index};
  return packs::xxh3(words, sizeof(words));
}

packs::Status check_launches(Guard *guard, const DriverTask &task, std::size_t kernels, bool last,
                             bool dry_run) {
  for (unsigned i = 0; i < kernels && i < kMarkedKernels; ++i) {
    if (guard->passes_over({launch_id(task, i), task.rung}, last, dry_run)) {
      return packs::Status::error(
          packs::Code::failed,
          "an earlier process ended while it launched this for the first time");
    }
  }
  return {};
}

std::uint64_t task_id(packs::VariantRef variant, BinaryTask what) {
  return packs::xxh3(variant.hash().data(), packs::kDigestSize) ^ static_cast<unsigned>(what);
}

}  // namespace kiln::runtime
