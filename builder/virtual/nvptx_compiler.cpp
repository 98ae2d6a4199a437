// SPDX-License-Identifier: Apache-2.0
// Runs clang to LLVM IR and reads the metadata there, runs clang again to PTX and reads the
// directives there line by line, and runs ptxas.
#include "builder/virtual/nvptx_compiler.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/compile/host_options.hpp"
#include "builder/compile/spirv.hpp"
#include "builder/compile/toolchain.hpp"
#include "builder/virtual/tool_files.hpp"

namespace kiln::builder {

namespace {

// NVIDIA's options that change no result, or none that a cubin could keep.
constexpr std::array<std::string_view, 6> kIgnored = {"-cl-kernel-arg-info", "-cl-nv-arch",
                                                      "-cl-nv-cstd",         "-cl-nv-verbose",
                                                      "-cl-opt-disable",     "-nv-line-info"};

std::string_view cut_line(std::string_view *text) {
  const std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(line.size() + 1, text->size()));
  return line;
}

// Returns the node "!7 = ..." that a line refers to as "!kind !7"; empty if there is no such
// reference.
std::string_view metadata(std::string_view ir, std::string_view line, std::string_view kind) {
  const std::string reference = fmt::format(" !{} !", kind);
  const std::size_t at = line.find(reference);
  if (at == std::string_view::npos) return {};
  std::string_view number = line.substr(at + reference.size());
  number = number.substr(0, number.find_first_not_of("0123456789"));
  const std::string beginning = fmt::format("\n!{} = ", number);
  const std::size_t node = ir.find(beginning);
  if (node == std::string_view::npos) return {};
  std::string_view rest = ir.substr(node + 1);
  return cut_line(&rest);
}

// Calls `visit` with each line that defines a kernel, and the kernel's name.
template <typename Visit>
void each_kernel(std::string_view ir, Visit visit) {
  constexpr std::string_view kKernel = " spir_kernel void @";
  for (std::string_view rest = ir; !rest.empty();) {
    const std::string_view line = cut_line(&rest);
    const std::size_t at = line.find(kKernel);
    if (!line.starts_with("define ") || at == std::string_view::npos) continue;
    const std::string_view name = line.substr(at + kKernel.size());
    visit(line, name.substr(0, name.find('(')));
  }
}

// Returns the quoted words of a metadata node.
std::vector<std::string_view> words_of(std::string_view node) {
  std::vector<std::string_view> words;
  for (std::size_t open = node.find('"'); open != std::string_view::npos;) {
    const std::size_t close = node.find('"', open + 1);
    if (close == std::string_view::npos) break;
    words.push_back(node.substr(open + 1, close - open - 1));
    open = node.find('"', close + 1);
  }
  return words;
}

// Returns the numbers of "!9 = !{i32 16, i32 16, i32 1}".
std::optional<std::array<std::uint32_t, 3>> size_of(std::string_view node) {
  std::array<std::uint32_t, 3> size{};
  for (std::uint32_t &one : size) {
    const std::size_t at = node.find("i32 ");
    if (at == std::string_view::npos) return std::nullopt;
    node.remove_prefix(at + 4);
    std::from_chars(node.data(), node.data() + node.size(), one);
  }
  return size;
}

Status check_kernels(const packs::Variant &variant, std::string_view ir) {
  const std::vector<SpirvKernel> made = kernels_of_llvm_ir(ir);
  for (const packs::Kernel &kernel : variant.kernels) {
    const auto found = std::find_if(
        made.begin(), made.end(), [&](const SpirvKernel &one) { return one.name == kernel.name; });
    if (found == made.end()) {
      return {Code::bad_input, fmt::format("clang found no kernel {} in it", kernel.name)};
    }
    if (found->argument_count != kernel.arguments) {
      return {Code::bad_input, fmt::format("{} has {} arguments by clang, {} in the pack",
                                           kernel.name, found->argument_count, kernel.arguments)};
    }
  }
  return {};
}

std::optional<std::string> nvidia_option(const std::string &option, std::string_view value) {
  if (option.starts_with("-cl-nv-maxrregcount")) return fmt::format("-maxrregcount={}", value);
  if (option.starts_with("-cl-nv-opt-level")) return fmt::format("-O{}", value);
  return std::nullopt;
}

bool is_ignored(std::string_view option) {
  return option.starts_with("-I") ||
         std::any_of(kIgnored.begin(), kIgnored.end(),
                     [&](std::string_view known) { return option.starts_with(known); });
}

using runtime::Field;

constexpr int kOldestClang = 14;  // the first whose PTX suits later GPUs

// Returns the architecture for clang, whose PTX ptxas compiles for that one or any later one.
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
        // As in NVIDIA's compiler: no half precision, inline PTX, and these macros.
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
  // Returns the status of a tool that should have written `output`.
  static Status outcome(const char *tool, const ProcessResult &result, std::string_view output) {
    const std::string message = compiler_message(result);
    if (result.ok() && !output.empty()) return {};
    if (result.ok()) return {Code::process, fmt::format("{} wrote nothing\n{}", tool, message)};
    const Code code = result.end == ProcessEnd::exited ? Code::bad_input : Code::process;
    return {code, fmt::format("{}: {}\n{}{}", tool, result.reason, message,
                              result.ok() || !message.empty() ? "" : output)};
  }

  // Compiles IR to PTX without running the passes again.
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

// Returns the identity of any GPU with that compute capability.
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

// Returns the capabilities of such a GPU for which clang and libclc can make code.
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

Result<NvptxOptions> nvptx_options(std::string_view options) {
  auto host = host_options(options);
  if (!host.ok()) return host.status();
  NvptxOptions result{std::move(host->kept), {}};
  const std::vector<std::string> &others = host->left_out;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::string &option = others[i];
    const bool operand_follows = i + 1 < others.size() && !others[i + 1].starts_with('-');
    const std::size_t equals = option.find('=');
    const std::string value = equals != std::string::npos ? option.substr(equals + 1)
                              : operand_follows           ? others[i + 1]
                                                          : std::string();
    if (const auto ptxas = nvidia_option(option, value)) {
      result.ptxas.push_back(*ptxas);
    } else if (!is_ignored(option)) {
      return Status(Code::requirement,
                    fmt::format("NVIDIA's compiler has no build option {}", option));
    }
    if (operand_follows) ++i;
  }
  return result;
}

Status check_nvptx_ir(const packs::Variant &variant, std::string_view ir) {
  Status status = check_kernels(variant, ir);
  each_kernel(ir, [&](std::string_view line, std::string_view name) {
    for (const std::string_view type : words_of(metadata(ir, line, "kernel_arg_base_type"))) {
      const bool is_image = type.starts_with("image") || type.starts_with("sampler_t");
      if (!status.ok() || !is_image) continue;
      status = {Code::requirement,
                fmt::format("{} takes an argument of the type {}, and clang makes no code for "
                            "images and samplers",
                            name, type)};
    }
  });
  if (!status.ok()) return status;
  const std::vector<std::string> undefined = undefined_in_llvm_ir(ir);
  if (undefined.empty()) return {};
  return {Code::requirement,
          fmt::format("neither the program nor libclc defines {}", fmt::join(undefined, ", "))};
}

RequiredSizes required_sizes(std::string_view ir) {
  RequiredSizes sizes;
  each_kernel(ir, [&](std::string_view line, std::string_view name) {
    const auto size = size_of(metadata(ir, line, "reqd_work_group_size"));
    if (size) sizes.emplace_back(name, *size);
  });
  return sizes;
}

Status add_required_sizes(const RequiredSizes &sizes, std::string *ptx) {
  for (const auto &[name, size] : sizes) {
    const std::size_t entry = ptx->find(fmt::format(".entry {}(", name));
    const std::size_t body = entry == std::string::npos ? entry : ptx->find("\n{", entry);
    if (body == std::string::npos) {
      return {Code::failed, fmt::format("clang's PTX has no kernel {}", name)};
    }
    if (ptx->substr(entry, body - entry).find(".reqntid") != std::string::npos) continue;
    ptx->insert(body, fmt::format("\n.reqntid {}, {}, {}", size[0], size[1], size[2]));
  }
  return {};
}

Status check_cubin(const packs::Variant &variant, std::string_view cubin) {
  constexpr std::string_view kMagic =
      "\x7f"
      "ELF";
  constexpr std::size_t kMachineAt = 18;
  constexpr char kCuda = static_cast<char>(190);
  const bool is_cubin =
      cubin.starts_with(kMagic) && cubin.size() > kMachineAt && cubin[kMachineAt] == kCuda;
  if (!is_cubin) return {Code::process, "ptxas wrote no cubin"};
  for (const packs::Kernel &kernel : variant.kernels) {
    const std::string section = ".text." + kernel.name + '\0';
    if (cubin.find(section) == std::string_view::npos) {
      return {Code::process, fmt::format("ptxas wrote no code for {}", kernel.name)};
    }
  }
  return {};
}

std::vector<std::string> nvptx_arguments(const std::string &architecture) {
  // Without a CUDA toolkit clang chooses a version of PTX that lacks instructions.
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
