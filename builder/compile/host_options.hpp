// SPDX-License-Identifier: Apache-2.0
// Build options, as far as the host step understands them. Pure.
#pragma once

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
// Fails with Code::bad_input when a quote is open or -D, -U, -I has no operand.
Result<HostOptions> host_options(std::string_view options);

// The SPIR-V extensions that a variant with these requirements may use, sorted.
std::vector<std::string> spirv_extensions(const std::vector<std::string> &requirements);

// Whether a program is about doubles: it requires them, or its text or its options have the word
// `double` or `fp64`. Another program's literals without f are meant to be single precision where a
// GPU has nothing else.
bool is_about_doubles(std::string_view source, std::string_view options,
                      const std::vector<std::string> &requirements);

}  // namespace kiln::builder
