// SPDX-License-Identifier: Apache-2.0
// Lists the kernels in the LLVM IR that clang prints, for programs without SPIR-V. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "builder/compile/spirv.hpp"

namespace kiln::builder {

// Sorted by name. Lines that define no kernel are passed over, so other texts have none.
std::vector<SpirvKernel> kernels_of_llvm_ir(std::string_view text);

}  // namespace kiln::builder
