// SPDX-License-Identifier: Apache-2.0
// The error type of packs, under the builder's own name: every part of Kiln fails the same way.
#pragma once

#include "kiln/packs/status.hpp"

namespace kiln::builder {

using packs::Code;
using packs::Result;
using packs::Status;

// Returns the same failure with Code::failed: for an I/O error on a file that is not a pack, whose
// code would give the exit code of a bad pack.
inline Status as_failed(const Status &status) {
  return status.ok() ? Status() : Status(Code::failed, status.message);
}

}  // namespace kiln::builder
