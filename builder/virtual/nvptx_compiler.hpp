// SPDX-License-Identifier: Apache-2.0
// Machine code for NVIDIA's GPUs with no GPU and no driver: clang for nvptx64-nvidia-nvcl, libclc's
// built-ins, and ptxas of a CUDA toolkit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/compile/toolchain.hpp"
#include "builder/device/device_info.hpp"
#include "builder/virtual/tool_files.hpp"

namespace kiln::builder {

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
