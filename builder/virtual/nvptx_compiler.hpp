// SPDX-License-Identifier: Apache-2.0
// Machine code for NVIDIA's GPUs with no GPU and no driver: clang for nvptx64-nvidia-nvcl, libclc's
// built-ins, and ptxas of a CUDA toolkit.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/compile/toolchain.hpp"
#include "builder/device/device_info.hpp"
#include "builder/virtual/tool_files.hpp"
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

// 1000 of "sm_100": 100 times the major version and the minor one, whose digit is the last.
std::optional<std::uint32_t> parse_architecture(std::string_view text);

// By path or as a name in PATH; what is empty is searched for.
struct NvptxRequest {
  std::string clang;
  std::string libclc;  // nvptx64--nvidiacl.bc
  std::string ptxas;   // empty: in PATH, CUDA_PATH, CUDA_HOME and /usr/local/cuda*
};

struct NvptxTools {
  HostTool clang;
  std::filesystem::path libclc;
  std::filesystem::path ptxas;
  std::string ptxas_version;               // "13.0.88"
  std::vector<std::string> architectures;  // that this ptxas makes code for: "sm_75", ...
  std::string driver;  // the oldest that takes its code, by NVIDIA's rule for versions of CUDA
  std::string recipe;  // as VirtualDevice has it
  std::shared_ptr<const ToolFolder> folder;  // holds:
  std::string built_ins;                     // bitcode of nvidia_built_ins.cl
};

// Fails with Code::not_found; the message names what is missing, where it was searched for, the
// package that has it and the option that names it. Fails with Code::process where clang does not
// compile Kiln's own built-ins.
Result<NvptxTools> find_nvptx_tools(const NvptxRequest &request);

// What every run of clang for such an architecture is given.
std::vector<std::string> nvptx_arguments(const std::string &architecture);

// "13.0.88" of what `ptxas --version` prints; empty if it is not there.
std::string ptxas_version_of(std::string_view text);
// The oldest driver that takes code of that version's ptxas; empty for a version not known.
std::string oldest_driver_of(std::string_view ptxas_version);

// Any GPU of that architecture, "sm_90", with its compiler. Fails with Code::bad_argument where the
// name is none, or ptxas does not make code for it; the message lists what it does make.
Result<DeviceInfo> nvptx_device(std::shared_ptr<const NvptxTools> tools,
                                const std::string &architecture);

}  // namespace kiln::builder
