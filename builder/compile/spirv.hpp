// SPDX-License-Identifier: Apache-2.0
// Reads the facts that Kiln needs from a compiled module: SPIR-V, whose untrusted bytes are
// checked, or the LLVM IR that clang prints. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct SpirvKernel {
  std::string name;
  std::uint32_t argument_count = 0;
  std::vector<packs::Parameter> parameters{};  // one for each argument; empty: not known
};

struct SpirvModule {
  std::uint32_t version = 0;            // as in the header: 0x00010000 is 1.0
  std::uint32_t address_bits = 0;       // 32, 64; 0: logical addressing
  std::vector<SpirvKernel> kernels;     // entry points of the Kernel model, sorted by name
  std::vector<std::string> unresolved;  // functions that are called and not defined, sorted
  bool has_barrier = false;             // a barrier for the work-items of a group
};

// Reads a little-endian module. Types and names of parameters are clang's own if the module has
// them (-cl-kernel-arg-info, llvm-spirv --preserve-ocl-kernel-arg-type-metadata-through-string);
// else SPIR-V's types, which do not know signs, and no names. Fails with Code::bad_input for: a
// size that is not a multiple of 4, a bad magic number, the other byte order, an instruction that
// is empty or runs over the end, a name without an end, a kernel without its function, two kernels
// with one name, no memory model. The message is one sentence and gives the index of the faulty
// word. Throws only for lack of memory; safe to use from any thread.
Result<SpirvModule> read_spirv(std::span<const std::uint8_t> bytes);

// Returns a module without what only describes the parameters of its kernels: the texts that
// llvm-spirv writes for clGetKernelArgInfo, and the parameters' names unless `keep_names`. Fails as
// read_spirv() does.
Result<std::vector<std::uint8_t>> without_argument_info(std::span<const std::uint8_t> bytes,
                                                        bool keep_names);

// Returns the kernels, sorted by name. Skips lines that define no kernel, so other texts have none.
// A struct's size is not known.
std::vector<SpirvKernel> kernels_of_llvm_ir(std::string_view text);

// Returns the kernels in the output of clang's -ast-dump, sorted by name, without their parameters'
// types. Clang prints a tree even of a program with errors.
std::vector<SpirvKernel> kernels_of_syntax_tree(std::string_view text);

// Returns the identifier of a function whose name may be mangled as in C++.
std::string_view plain_name(std::string_view mangled);

// Whether the text calls a barrier of OpenCL C.
bool has_barrier_in_llvm_ir(std::string_view text);

}  // namespace kiln::builder
