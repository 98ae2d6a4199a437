// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over sequence.h; link kiln::launch.
#pragma once

#include <string>

#include "kiln/kiln.hpp"
#include "kiln/sequence.h"

namespace kiln {

/// Launches that are recorded once and run often: begin, add, add, end, run, run. For one thread at
/// a time.
class Sequence {
 public:
  Sequence() = default;
  /// Takes over a handle of the C interface.
  explicit Sequence(kiln_sequence *handle) : handle_(handle) {}
  /// See kiln_sequence_begin().
  static Result<Sequence> begin(const Queue &queue) {
    return detail::make<Sequence, kiln_sequence>([&](kiln_sequence **out, kiln_error *error) {
      return kiln_sequence_begin(queue.get(), out, error);
    });
  }
  /// The handle, which stays owned by this object.
  kiln_sequence *get() const { return handle_.get(); }
  /// See kiln_sequence_kind().
  kiln_recording kind() const { return kiln_sequence_kind(get()); }
  /// See kiln_sequence_reason().
  std::string reason() const { return get() == nullptr ? "" : kiln_sequence_reason(get()); }
  /// See kiln_sequence_add().
  Status add(const Kernel &kernel, const kiln_ndrange &range) const {
    return detail::call(
        [&](kiln_error *error) { kiln_sequence_add(get(), kernel.get(), &range, error); });
  }
  /// See kiln_sequence_change(); a null `range` leaves the range unchanged.
  Status change(unsigned launch, const Kernel &kernel, const kiln_ndrange *range = nullptr) const {
    return detail::call([&](kiln_error *error) {
      kiln_sequence_change(get(), launch, kernel.get(), range, error);
    });
  }
  /// See kiln_sequence_end().
  Status end() const {
    return detail::call([&](kiln_error *error) { kiln_sequence_end(get(), error); });
  }
  /// See kiln_sequence_run(). `event` gets the event and may be reused; null: none.
  Status run(Event *event = nullptr, const WaitList &wait = {}) const {
    return Event::refill(event, [&](kiln_event **to, kiln_error *error) {
      kiln_sequence_run(get(), wait.data(), wait.size(), to, error);
    });
  }

 private:
  detail::Owner<kiln_sequence, kiln_sequence_release> handle_;
};

}  // namespace kiln
