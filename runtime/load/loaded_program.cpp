// SPDX-License-Identifier: Apache-2.0
// What a variant's kernels must be, for the check of a build.
#include "runtime/load/loaded_program.hpp"

namespace kiln::runtime {

std::vector<ExpectedKernel> expected_kernels(packs::VariantRef variant) {
  std::vector<ExpectedKernel> kernels;
  for (const packs::KernelRef kernel : variant.kernels()) {
    kernels.push_back({std::string(kernel.name()), kernel.arguments()});
  }
  return kernels;
}

}  // namespace kiln::runtime
