// SPDX-License-Identifier: Apache-2.0
// A value, or a failed status.
#pragma once

#include <optional>
#include <utility>

#include "kiln/packs/status.hpp"

namespace kiln::packs {

// Asking for the value of a failed result is undefined, as with std::optional. A result that is
// made from a status must be made from a failed one.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status &status() const { return status_; }

  T &operator*() & { return *value_; }
  const T &operator*() const & { return *value_; }
  T &&operator*() && { return *std::move(value_); }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

  // Moves the value to `*out`, if there is one.
  Status move_to(T *out) && {
    if (ok()) *out = *std::move(value_);
    return std::move(status_);
  }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace kiln::packs
