// SPDX-License-Identifier: Apache-2.0
// What calls of the runtime's C++ interface return, as a Status.
#pragma once

#include <utility>

#include "builder/base/builder_status.hpp"
#include "kiln/kiln.hpp"

namespace kiln::builder {

// The C interface knows fewer codes: which fault a pack has is in the message alone.
Status status_of(const kiln_error &error);

// Moves what was made to `*out`, or gives the error.
template <typename T>
Status take(kiln::Result<T> made, T *out) {
  if (!made) return status_of(made.error());
  *out = std::move(*made);
  return {};
}

}  // namespace kiln::builder
