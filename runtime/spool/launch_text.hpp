// SPDX-License-Identifier: Apache-2.0
// A launch as a line of a pack (packs/FORMAT.md, "Launches").
#pragma once

#include <string>
#include <vector>

#include "runtime/spool/next.hpp"

namespace kiln::layer {

// What clSetKernelArg was given for one argument.
struct SetArgument {
  enum class Kind : std::uint8_t { not_set, value, memory, sampler, shared_memory };
  Kind kind = Kind::not_set;
  std::size_t size = 0;
  std::string bytes;     // empty for a null pointer
  bool is_null = false;  // local memory, or no memory object
};

// What clEnqueueNDRangeKernel is given; unused dimensions are 1, and of the offset 0.
struct Range {
  cl_uint dimensions = 1;
  std::size_t global[3]{1, 1, 1};
  std::size_t local[3]{0, 0, 0};  // 0: left to the driver
  std::size_t offset[3]{0, 0, 0};
};

// Empty if the driver does not say.
std::string kernel_name(cl_kernel kernel);

// How the line begins: what compilers may make other code for. Of launches that begin alike one is
// enough.
std::string launch_kind(const std::string &kernel, const Range &range);

// Whether a line of `text` begins with `kind`.
bool has_kind(const std::string &text, const std::string &kind);

// The whole line, without its end. Asks the driver for the sizes of memory objects, which the
// application has not released, and which null pointers are local memory.
std::string launch_text(const std::string &kind, cl_kernel kernel, const Range &range,
                        const std::vector<SetArgument> &arguments);

}  // namespace kiln::layer
