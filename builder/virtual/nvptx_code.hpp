// SPDX-License-Identifier: Apache-2.0
// Checks and edits of what clang makes for NVIDIA's GPUs. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// What clang and ptxas need to know of a variant's build options.
struct NvptxOptions {
  std::vector<std::string> clang;
  std::vector<std::string> ptxas;
};
// Options of OpenCL go to clang, NVIDIA's own to ptxas or nowhere. Fails with Code::bad_input as
// host_options() does, and with Code::requirement for an option of another vendor, which NVIDIA's
// driver refuses, too.
Result<NvptxOptions> nvptx_options(std::string_view options);

// Whether such LLVM IR can become a right binary of the variant: it has its kernels with as many
// arguments, none takes an image or a sampler, and nothing that is called is undefined. Fails with
// Code::requirement or, where kernels are missing, Code::bad_input.
Status check_nvptx_ir(const packs::Variant &variant, std::string_view ir);

// Kernels with a required work-group size, which clang 15 leaves out of the PTX.
using RequiredSizes = std::vector<std::pair<std::string, std::array<std::uint32_t, 3>>>;
RequiredSizes required_sizes(std::string_view ir);
// PTX with these sizes as .reqntid. Fails with Code::failed where the PTX has no such kernel.
Status add_required_sizes(const RequiredSizes &sizes, std::string *ptx);

// Whether it is an ELF file of CUDA's machine with code for each kernel of the variant. Fails with
// Code::process.
Status check_cubin(const packs::Variant &variant, std::string_view cubin);

}  // namespace kiln::builder
