// SPDX-License-Identifier: Apache-2.0
// A SPIR-V module.
#include "builder/compile/spirv.hpp"

#include "tests/fuzz/targets/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  (void)kiln::builder::read_spirv({data, size});
  return 0;
}
