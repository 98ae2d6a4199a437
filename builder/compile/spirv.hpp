// SPDX-License-Identifier: Apache-2.0
// What Kiln needs to know of a compiled module: SPIR-V, whose untrusted bytes are checked, or the
// LLVM IR that clang prints. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

struct SpirvKernel {
  std::string name;
  std::uint32_t argument_count = 0;
};

struct SpirvModule {
  std::uint32_t version = 0;            // as in the header: 0x00010000 is 1.0
  std::uint32_t address_bits = 0;       // 32, 64; 0: logical addressing
  std::vector<SpirvKernel> kernels;     // entry points of the Kernel model, sorted by name
  std::vector<std::string> unresolved;  // functions that are called and not defined, sorted
  bool has_barrier = false;             // that work-items of a group wait at
};

// Reads a little-endian module. Fails with Code::bad_input, in one sentence with the word that it
// is about, for: a size that is no multiple of 4, a bad magic, the other byte order, an
// instruction that is empty or runs over the end, a name without an end, a kernel whose function
// is not there, two kernels of one name, no memory model. No exceptions but for lack of memory;
// safe to use from any thread.
Result<SpirvModule> read_spirv(std::span<const std::uint8_t> bytes);

// Sorted by name. Lines that define no kernel are passed over, so other texts have none.
std::vector<SpirvKernel> kernels_of_llvm_ir(std::string_view text);

// The identifier of a function that is mangled as in C++, or of one that is not.
std::string_view plain_name(std::string_view mangled);

// Whether a barrier of OpenCL C is called.
bool has_barrier_in_llvm_ir(std::string_view text);

// The functions that are called and not defined, by their identifiers; sorted, no duplicates.
std::vector<std::string> undefined_in_llvm_ir(std::string_view text);

}  // namespace kiln::builder
