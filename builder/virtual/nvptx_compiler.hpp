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

// A variant's build options, for clang and ptxas.
struct NvptxOptions {
  std::vector<std::string> clang;
  std::vector<std::string> ptxas;
};
// Sorts build options: OpenCL's go to clang, NVIDIA's own to ptxas or nowhere. Fails with
// Code::bad_input as host_options() does, and with Code::requirement for an option of another
// vendor, which NVIDIA's driver refuses, too.
Result<NvptxOptions> nvptx_options(std::string_view options);

// Checks that LLVM IR can become a correct binary of the variant: it has the variant's kernels with
// as many arguments, no kernel takes an image or a sampler, and no called function is undefined.
// Fails with Code::bad_input if a kernel is missing or has other arguments, else with
// Code::requirement.
Status check_nvptx_ir(const packs::Variant &variant, std::string_view ir);

// Kernels with a required work-group size, which clang 15 leaves out of the PTX.
using RequiredSizes = std::vector<std::pair<std::string, std::array<std::uint32_t, 3>>>;
RequiredSizes required_sizes(std::string_view ir);
// Adds these sizes to the PTX as .reqntid. Fails with Code::failed if the PTX lacks such a kernel.
Status add_required_sizes(const RequiredSizes &sizes, std::string *ptx);

// Fails with Code::process unless `cubin` is an ELF file of CUDA's machine with code for each
// kernel of the variant.
Status check_cubin(const packs::Variant &variant, std::string_view cubin);

// Parses "sm_100" as 1000: 100 times the major version plus the minor one, which is the last digit.
std::optional<std::uint32_t> parse_architecture(std::string_view text);

// Paths of tools, or names in PATH; a tool without one is searched for.
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
  std::string driver;  // oldest driver that takes its code, by NVIDIA's rule for CUDA versions
  std::string recipe;  // as in VirtualDevice
  std::shared_ptr<const ToolFolder> folder;  // holds `built_ins`
  std::string built_ins;                     // path of the bitcode of nvidia_built_ins.cl
};

// Finds the tools. Fails with Code::not_found and a message that names the missing file, the places
// searched, the package that has it and the option that names it. Fails with Code::process if clang
// cannot compile Kiln's own built-ins.
Result<NvptxTools> find_nvptx_tools(const NvptxRequest &request);

// Returns the arguments for every run of clang for such an architecture.
std::vector<std::string> nvptx_arguments(const std::string &architecture);

// Returns "13.0.88" from the output of `ptxas --version`; empty if there is no version.
std::string ptxas_version_of(std::string_view text);
// Returns the oldest driver that takes code from that version of ptxas; empty for an unknown
// version.
std::string oldest_driver_of(std::string_view ptxas_version);

// Returns any GPU of that architecture, "sm_90", with its compiler. Fails with Code::bad_argument
// if there is no such architecture, or ptxas makes no code for it; the message lists the
// architectures of this ptxas.
Result<DeviceInfo> nvptx_device(std::shared_ptr<const NvptxTools> tools,
                                const std::string &architecture);

}  // namespace kiln::builder
