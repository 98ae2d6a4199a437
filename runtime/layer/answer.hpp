// SPDX-License-Identifier: Apache-2.0
// Answers as OpenCL's functions clGet...Info give them.
#pragma once

#include <cstddef>
#include <cstring>

#include "runtime/spool/next.hpp"

namespace kiln::layer {

// `value`, of `size` bytes, into `out`, which has room for `room` bytes; `out` and `size_out` may
// be null.
inline cl_int answer(const void *value, std::size_t size, std::size_t room, void *out,
                     std::size_t *size_out) {
  if (out != nullptr && room < size) return CL_INVALID_VALUE;
  if (out != nullptr) std::memcpy(out, value, size);
  if (size_out != nullptr) *size_out = size;
  return CL_SUCCESS;
}

}  // namespace kiln::layer
