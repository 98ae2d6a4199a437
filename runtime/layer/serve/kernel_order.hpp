// SPDX-License-Identifier: Apache-2.0
// The order of a served program's kernels: the driver's for the text, which applications rely on.
// Drivers may order those of a binary otherwise, as rusticl does by a hash, anew in each process.
#pragma once

#include <optional>
#include <string>

#include "runtime/layer/serve/objects.hpp"

namespace kiln::layer {

// Orders kernels that the driver has created of `program`, or of its stand-in if it has one.
void put_in_order(const ProgramPointer &program, StandIn *stand_in, cl_kernel *kernels,
                  std::size_t count);

// Returns the answer to CL_PROGRAM_KERNEL_NAMES, without its zero; nothing if the driver's own is
// right.
std::optional<std::string> names_in_order(const ProgramPointer &program, StandIn *stand_in);

}  // namespace kiln::layer
