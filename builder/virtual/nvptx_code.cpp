// SPDX-License-Identifier: Apache-2.0
// Reads the metadata in LLVM IR and the directives in PTX, line by line.
#include "builder/virtual/nvptx_code.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/compile/host_options.hpp"
#include "builder/compile/llvm_ir.hpp"

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

// "!7 = ..." of what a line refers to as "!kind !7"; empty where it does not.
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

// The quoted words of a metadata node.
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

// The numbers of "!9 = !{i32 16, i32 16, i32 1}".
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

}  // namespace kiln::builder
