// SPDX-License-Identifier: Apache-2.0
// Lists the kernels and the names in the LLVM IR that clang prints. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builder/compile/spirv.hpp"

namespace kiln::builder {

// Sorted by name. Lines that define no kernel are passed over, so other texts have none.
std::vector<SpirvKernel> kernels_of_llvm_ir(std::string_view text);

// The identifier of a function that is mangled as in C++, or of one that is not.
std::string_view plain_name(std::string_view mangled);

// Whether a barrier of OpenCL C is called.
bool has_barrier_in_llvm_ir(std::string_view text);

// The functions that are called and not defined, by their identifiers; sorted, no duplicates.
std::vector<std::string> undefined_in_llvm_ir(std::string_view text);

}  // namespace kiln::builder
