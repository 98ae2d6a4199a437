// SPDX-License-Identifier: Apache-2.0
// What the operating system says of a dma-buf.
#pragma once

#include <cstdint>

#include "kiln/packs/status.hpp"

namespace kiln::runtime {

// Code::bad_argument if the descriptor is certainly not one of a dma-buf. `*bytes` gets its size,
// or UINT64_MAX where the system does not tell. Changes nothing.
packs::Status check_dma_buf(int fd, std::uint64_t *bytes);

}  // namespace kiln::runtime
