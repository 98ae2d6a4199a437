// SPDX-License-Identifier: Apache-2.0
// Checks of arguments against what the pack knows of a kernel: the parameters that its source
// declares, else the arguments that the manifest lists. An argument of which the pack knows nothing
// is the driver's to check.
#pragma once

#include "runtime/launch/enqueue.hpp"
#include "runtime/launch/parameter_type.hpp"

namespace kiln::runtime {

// Fails with Code::bad_argument if the pack knows that the argument takes another type.
Status check_argument(const Kernel &kernel, unsigned index, unsigned given, unsigned components);

// As check_argument(), for an image of this kind, such as "image2d_t"; empty: for a buffer.
Status check_memory(const Kernel &kernel, unsigned index, const std::string &image);

// Fails with Code::bad_argument if the pack knows that the argument is local memory or a pipe, or
// has another size than `size` bytes. Memory objects and samplers are handles of OpenCL.
Status check_bytes(const Kernel &kernel, unsigned index, std::size_t size);

// Checks and sets local memory of `size` bytes. Fails with Code::bad_argument if the device has
// less than the kernel's arguments take in all: a driver may abort the process at the launch.
Status set_local(Kernel *kernel, unsigned index, std::size_t size);

// Checks and sets a pointer to shared virtual memory. Fails with Code::requirement if the device
// has no such memory.
Status set_svm(Kernel *kernel, unsigned index, const void *pointer);

// Checks and sets a scalar or a vector. `type` is a kiln_type; both numbers are checked here.
Status set_typed(Kernel *kernel, unsigned index, unsigned type, unsigned components,
                 const void *value);

}  // namespace kiln::runtime
