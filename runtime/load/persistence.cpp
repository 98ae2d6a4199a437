// SPDX-License-Identifier: Apache-2.0
// Marks attempts, and names tasks.
#include "runtime/load/persistence.hpp"

#include "kiln/packs/bytes.hpp"

namespace kiln::runtime {

Attempt::Attempt(Persistence *persistence, const DriverTask &task, std::uint32_t deadline)
    : persistence_(persistence), task_(task) {
  if (persistence != nullptr) status_ = persistence->attempt(task, deadline, &marker_);
}

void Attempt::end(Event event, std::string_view text) {
  // A process that ends between the two writes must not turn a success into a death.
  marker_ = nullptr;
  if (persistence_ != nullptr && event != Event::none) persistence_->record(task_, event, text);
}

std::uint64_t task_id(const packs::Digest &variant, BinaryTask what) {
  return packs::xxh3(variant.data(), packs::kDigestSize) ^ static_cast<unsigned>(what);
}

std::uint64_t launch_id(const DriverTask &task, unsigned index) {
  const std::uint64_t words[] = {task.id, index};
  return packs::xxh3(words, sizeof(words));
}

}  // namespace kiln::runtime
