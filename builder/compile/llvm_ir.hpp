// SPDX-License-Identifier: Apache-2.0
// The kernels of a module of clang's, where there is no SPIR-V to read them from. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "builder/compile/spirv.hpp"

namespace kiln::builder {

// The kernels that a module as text defines, sorted by name. Of what is not such a text, none.
std::vector<SpirvKernel> kernels_of_llvm_ir(std::string_view text);

}  // namespace kiln::builder
