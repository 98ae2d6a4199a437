// SPDX-License-Identifier: Apache-2.0
// Reads the lines that define kernels, `define ... spir_kernel void @NAME(TYPE %0, ...) ... {`, and
// those that declare functions, `declare ... @NAME(TYPE ...)`.
#include "builder/compile/llvm_ir.hpp"

#include <algorithm>
#include <string>

namespace kiln::builder {
namespace {

constexpr std::string_view kKernel = " spir_kernel void @";

// Of a list of parameters after its opening parenthesis. A type may have commas in brackets.
std::uint32_t count_parameters(std::string_view list) {
  std::uint32_t commas = 0;
  bool empty = true;
  std::size_t depth = 1;
  for (const char c : list) {
    if (std::string_view("([{<").find(c) != std::string_view::npos) ++depth;
    if (std::string_view(")]}>").find(c) != std::string_view::npos && --depth == 0) break;
    if (c == ',' && depth == 1) ++commas;
    empty = false;
  }
  return empty ? 0 : commas + 1;
}

// Cuts the first line off.
std::string_view next_line(std::string_view *text) {
  const std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(line.size() + 1, text->size()));
  return line;
}

}  // namespace

std::vector<SpirvKernel> kernels_of_llvm_ir(std::string_view text) {
  std::vector<SpirvKernel> kernels;
  while (!text.empty()) {
    const std::string_view line = next_line(&text);
    const std::size_t at = line.find(kKernel);
    if (!line.starts_with("define ") || at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + kKernel.size());
    const std::size_t name = rest.find('(');
    if (name == std::string_view::npos) continue;
    kernels.push_back({std::string(rest.substr(0, name)), count_parameters(rest.substr(name + 1))});
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const SpirvKernel &one, const SpirvKernel &other) { return one.name < other.name; });
  return kernels;
}

std::string_view plain_name(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return mangled;
  std::size_t length = 0;
  std::size_t at = 2;
  for (; at < mangled.size() && mangled[at] >= '0' && mangled[at] <= '9'; ++at) {
    length = 10 * length + static_cast<std::size_t>(mangled[at] - '0');
    if (length > mangled.size()) return mangled;
  }
  return mangled.substr(at, length);
}

std::vector<std::string> undefined_in_llvm_ir(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::string_view line = next_line(&text);
    const std::size_t at = line.find('@');
    if (!line.starts_with("declare ") || at == std::string_view::npos) continue;
    const std::string_view name = line.substr(at + 1, line.find('(', at) - at - 1);
    if (!name.starts_with("llvm.")) names.emplace_back(plain_name(name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool has_barrier_in_llvm_ir(std::string_view text) {
  const std::vector<std::string> names = undefined_in_llvm_ir(text);
  return std::any_of(names.begin(), names.end(), [](const std::string &name) {
    return name == "barrier" || name == "work_group_barrier" || name == "sub_group_barrier";
  });
}

}  // namespace kiln::builder
