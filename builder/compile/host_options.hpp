// SPDX-License-Identifier: Apache-2.0
// Build options, as far as the host step understands them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// Build options split into words; double quotes keep spaces together.
struct HostOptions {
  std::vector<std::string> kept;      // -D -U -w -Werror and the -cl-* that clang knows
  std::vector<std::string> left_out;  // vendors' own; -I, since includes are flattened;
                                      // -cl-opt-disable, since nothing is optimised here
};
// Fails with Code::bad_input when a quote is open, -D, -U, -I has no operand, or a word is neither
// an option nor what may be the operand of a vendor's own.
Result<HostOptions> host_options(std::string_view options);

// What to say of an option that was left out: one that drivers know too, but by another spelling,
// or that does not do here what it does there.
std::optional<std::string> warn_of_option(std::string_view option);

// The OpenCL C version that the last -cl-std names, as __OPENCL_C_VERSION__ has it; 120 without a
// -cl-std. For C++ for OpenCL 1.0 it is 200, for C++ for OpenCL 2021 it is 300.
unsigned opencl_c_version(const std::vector<std::string> &options);

}  // namespace kiln::builder
