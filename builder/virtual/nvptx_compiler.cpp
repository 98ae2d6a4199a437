// SPDX-License-Identifier: Apache-2.0
// Runs clang to LLVM IR, where it can be checked, clang again to PTX, and ptxas.
#include "builder/virtual/nvptx_compiler.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/compile/run_compiler.hpp"
#include "builder/virtual/nvptx_code.hpp"
#include "builder/virtual/tool_files.hpp"

namespace kiln::builder {
namespace {

using runtime::Field;

constexpr int kOldestClang = 14;  // the first whose PTX has what later GPUs need

// The architecture to give to clang, whose PTX ptxas compiles for that one or any later one.
std::string clang_architecture(int clang_major, const std::string &architecture) {
  const std::string newest = clang_major >= 16 ? "sm_90" : "sm_86";
  const auto asked = parse_architecture(architecture);
  return asked && *asked < *parse_architecture(newest) ? architecture : newest;
}

std::vector<std::string> ir_arguments(const NvptxTools &tools, const std::string &architecture,
                                      const std::vector<std::string> &options) {
  std::vector<std::string> arguments = {"-x", "cl", "-cl-std=CL1.2"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const auto common = nvptx_arguments(architecture);
  arguments.insert(arguments.end(), common.begin(), common.end());
  for (const char *argument :
       {"-Xclang", "-finclude-default-header", "-Xclang", "-nostdsysteminc", "-Werror=date-time",
        "-Qunused-arguments", "-fno-color-diagnostics", "-Wno-ignored-pragmas",
        "-Wno-linker-warnings",
        // As NVIDIA's compiler has it: no half precision, inline PTX, and these macros.
        "-Xclang", "-cl-ext=-cl_khr_fp16", "-fgnu-keywords", "-D__NV_CL_C_VERSION=120",
        "-D__OPENCL_VERSION__=300", "-D__IMAGE_SUPPORT__=1"}) {
    arguments.emplace_back(argument);
  }
  const bool is_cpp = std::any_of(options.begin(), options.end(), [](const std::string &option) {
    return option.starts_with("-cl-std=") && option.find("++") != std::string::npos;
  });
  if (!is_cpp) arguments.emplace_back("-fgnu89-inline");
  for (const std::string &built_ins : {tools.built_ins, tools.libclc.string()}) {
    arguments.insert(arguments.end(), {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", built_ins});
  }
  arguments.insert(arguments.end(), {"-emit-llvm", "-S", "-o", "-", "-"});
  return arguments;
}

class NvptxCompiler final : public VirtualDevice {
 public:
  NvptxCompiler(std::shared_ptr<const NvptxTools> tools, std::string architecture)
      : tools_(std::move(tools)),
        architecture_(std::move(architecture)),
        name_("nvidia:" + architecture_) {}

  const std::string &name() const override { return name_; }
  const std::string &recipe() const override { return tools_->recipe; }
  const std::string &driver() const override { return tools_->driver; }

  Result<Made> compile(const packs::Variant &variant, const CallLimits &limits,
                       bool) const override {
    if (!variant.source) return Status(Code::requirement, "the pack has no source of it");
    const auto options = nvptx_options(variant.options);
    if (!options.ok()) return options.status();
    packs::Bytes source;
    if (Status s = variant.source->read(&source); !s.ok()) return s;
    const std::string_view text(reinterpret_cast<const char *>(source.data()), source.size());
    const std::string clang_name = clang_architecture(tools_->clang.major, architecture_);
    const ProcessResult ir = run_compiler(
        tools_->clang.path, ir_arguments(*tools_, clang_name, options->clang), text, limits);
    if (Status s = outcome("clang", ir, ir.out); !s.ok()) return s;
    if (Status s = check_nvptx_ir(variant, ir.out); !s.ok()) return s;
    auto ptx = make_ptx(clang_name, ir.out, limits);
    if (!ptx.ok()) return ptx.status();
    auto made = assemble(variant, *ptx, options->ptxas, limits);
    if (made.ok()) made->log = compiler_message(ir) + made->log;
    return made;
  }

 private:
  // Of a tool that is to have written `output`.
  static Status outcome(const char *tool, const ProcessResult &result, std::string_view output) {
    const std::string message = compiler_message(result);
    if (result.ok() && !output.empty()) return {};
    if (result.ok()) return {Code::process, fmt::format("{} wrote nothing\n{}", tool, message)};
    const Code code = result.end == ProcessEnd::exited ? Code::bad_input : Code::process;
    return {code, fmt::format("{}: {}\n{}{}", tool, result.reason, message,
                              result.ok() || !message.empty() ? "" : output)};
  }

  // The passes over the IR are done.
  Result<std::string> make_ptx(const std::string &clang_name, const std::string &ir,
                               const CallLimits &limits) const {
    std::vector<std::string> arguments = {"-x", "ir"};
    const auto common = nvptx_arguments(clang_name);
    arguments.insert(arguments.end(), common.begin(), common.end());
    arguments.insert(arguments.end(), {"-Qunused-arguments", "-fno-color-diagnostics", "-Xclang",
                                       "-disable-llvm-passes", "-S", "-o", "-", "-"});
    ProcessResult ptx = run_compiler(tools_->clang.path, std::move(arguments), ir, limits);
    if (Status s = outcome("clang", ptx, ptx.out); !s.ok()) return s;
    if (Status s = add_required_sizes(required_sizes(ir), &ptx.out); !s.ok()) return s;
    return std::move(ptx.out);
  }

  Result<Made> assemble(const packs::Variant &variant, const std::string &ptx,
                        const std::vector<std::string> &options, const CallLimits &limits) const {
    const auto folder = ToolFolder::make();
    if (!folder.ok()) return folder.status();
    if (Status s = folder->write("program.ptx", ptx); !s.ok()) return s;
    std::vector<std::string> arguments = {"-arch=" + architecture_};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(),
                     {folder->path("program.ptx"), "-o", folder->path("program.cubin")});
    const ProcessResult ptxas = run_compiler(tools_->ptxas, std::move(arguments), "", limits);
    if (!ptxas.ok()) return outcome("ptxas", ptxas, ptxas.out);
    auto cubin = folder->read("program.cubin");
    if (!cubin.ok()) return Status(Code::process, "ptxas: " + cubin.status().message);
    if (Status s = check_cubin(variant, *cubin); !s.ok()) return s;
    return Made{packs::Bytes(cubin->begin(), cubin->end()), ptxas.out + compiler_message(ptxas)};
  }

  std::shared_ptr<const NvptxTools> tools_;
  std::string architecture_;
  std::string name_;
};

// What is known of any GPU with that compute capability.
runtime::Identity nvidia_identity(std::uint32_t compute_capability) {
  runtime::Identity identity;
  identity.set(Field::platform_name, "NVIDIA CUDA");
  identity.set(Field::platform_vendor, "NVIDIA Corporation");
  identity.set(Field::device_vendor, "NVIDIA Corporation");
  identity.set(Field::address_bits, "64");
  identity.set(Field::compute_capability,
               fmt::format("{}.{}", compute_capability / 100, compute_capability % 100));
  return identity;
}

// Of what such a GPU can do, what clang and libclc make code for.
runtime::Capabilities nvidia_capabilities(std::uint32_t compute_capability) {
  runtime::Capabilities can;
  can.profile = "nvidia";
  can.fp64 = true;
  can.opencl_3 = true;
  can.compiler = true;
  can.address_bits = 64;
  can.compute_capability = compute_capability;
  can.max_work_group_size = 1024;
  can.max_work_item_sizes[0] = can.max_work_item_sizes[1] = 1024;
  can.max_work_item_sizes[2] = 64;
  can.local_memory = 48 << 10;
  can.extensions = {"cl_khr_byte_addressable_store",
                    "cl_khr_fp64",
                    "cl_khr_global_int32_base_atomics",
                    "cl_khr_global_int32_extended_atomics",
                    "cl_khr_local_int32_base_atomics",
                    "cl_khr_local_int32_extended_atomics",
                    "cl_nv_compiler_options",
                    "cl_nv_device_attribute_query",
                    "cl_nv_pragma_unroll"};
  return can;
}

}  // namespace

std::vector<std::string> nvptx_arguments(const std::string &architecture) {
  // Without a CUDA toolkit clang takes a version of PTX that lacks instructions.
  return {"-target",
          "nvptx64-nvidia-nvcl",
          "-march=" + architecture,
          "-O3",
          "-Xclang",
          "-target-feature",
          "-Xclang",
          "+ptx75"};
}

std::optional<std::uint32_t> parse_architecture(std::string_view text) {
  if (!text.starts_with("sm_")) return std::nullopt;
  const std::string_view digits = text.substr(3);
  if (digits.size() < 2 || digits.size() > 3 || digits[0] == '0' ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto number = static_cast<std::uint32_t>(std::stoul(std::string(digits)));
  return 100 * (number / 10) + number % 10;
}

Result<DeviceInfo> nvptx_device(std::shared_ptr<const NvptxTools> tools,
                                const std::string &architecture) {
  const auto compute_capability = parse_architecture(architecture);
  const auto &made = tools->architectures;
  if (!compute_capability || std::find(made.begin(), made.end(), architecture) == made.end()) {
    return Status(Code::bad_argument,
                  fmt::format("{} makes no code for \"{}\"; it does for {}", tools->ptxas.string(),
                              architecture, fmt::join(made, ", ")));
  }
  if (tools->clang.major < kOldestClang) {
    return Status(Code::not_found, fmt::format("{} is older than clang {}",
                                               tools->clang.path.string(), kOldestClang));
  }
  DeviceInfo info;
  info.identity = nvidia_identity(*compute_capability);
  info.description = runtime::describe(info.identity);
  info.capabilities = nvidia_capabilities(*compute_capability);
  info.virtual_device = std::make_shared<NvptxCompiler>(std::move(tools), architecture);
  return info;
}

}  // namespace kiln::builder
