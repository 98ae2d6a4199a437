// SPDX-License-Identifier: Apache-2.0
// Guards calls of the driver with markers, and names their subjects.
#include "runtime/load/persistence.hpp"

#include "kiln/packs/bytes.hpp"

namespace kiln::runtime {

Guarded::Guarded(Guard *guard, const BlobUse &subject, std::uint32_t deadline)
    : guard_(guard), subject_(subject) {
  if (guard == nullptr || is_known(guard->verdict(subject.id))) return;
  status_ = guard->begin(subject, deadline, &slot_);
}

void Guarded::end(Verdict verdict) {
  if (guard_ != nullptr) guard_->end(slot_, subject_, verdict);
  slot_ = -1;
}

std::uint64_t launch_id(const BlobUse &subject, unsigned index) {
  const std::uint64_t words[] = {subject.id, index};
  return packs::xxh3(words, sizeof(words));
}

packs::Status check_launches(Guard *guard, const BlobUse &subject, std::size_t kernels, bool last,
                             bool dry_run) {
  for (unsigned i = 0; i < kernels && i < kMarkedKernels; ++i) {
    if (guard->passes_over({launch_id(subject, i), subject.rung}, last, dry_run)) {
      return packs::Status::error(
          packs::Code::failed,
          "an earlier process ended while it launched this for the first time");
    }
  }
  return {};
}

std::uint64_t work_id(packs::VariantRef variant, Work what) {
  return packs::xxh3(variant.hash().data(), packs::kDigestSize) ^ static_cast<unsigned>(what);
}

}  // namespace kiln::runtime
