// SPDX-License-Identifier: Apache-2.0
// Finds clang, libclc and ptxas, and asks ptxas what it makes code for.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/compile/toolchain.hpp"
#include "builder/virtual/nvptx_compiler.hpp"
#include "builder/virtual/tool_files.hpp"
#include "nvidia_built_ins.h"

namespace kiln::builder {
namespace {

constexpr std::chrono::milliseconds kAskTimeout{20'000};
constexpr char kLibclcFile[] = "/clc/nvptx64--nvidiacl.bc";

Status missing(const std::string &what, const std::vector<std::string> &tried,
               const std::string &install) {
  return {Code::not_found,
          fmt::format("no {}; tried {}; {}", what, fmt::join(tried, ", "), install)};
}

// Returns where ptxas may be: the name alone is searched for in PATH.
std::vector<std::string> ptxas_places() {
  std::vector<std::string> places = {"ptxas"};
  for (const char *variable : {"CUDA_PATH", "CUDA_HOME"}) {
    const char *folder = std::getenv(variable);
    if (folder != nullptr && *folder != '\0') places.push_back(std::string(folder) + "/bin/ptxas");
  }
  std::vector<std::string> installed;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator("/usr/local", error)) {
    if (entry.path().filename().string().starts_with("cuda")) {
      installed.push_back(entry.path().string() + "/bin/ptxas");
    }
  }
  std::sort(installed.begin(), installed.end());
  places.insert(places.end(), installed.begin(), installed.end());
  return places;
}

Result<std::filesystem::path> find_ptxas(const std::string &named) {
  const std::vector<std::string> places =
      named.empty() ? ptxas_places() : std::vector<std::string>{named};
  if (auto found = find_executable(places)) return *std::move(found);
  return missing("ptxas", places,
                 "it is in NVIDIA's CUDA toolkit, such as the package nvidia-cuda-toolkit of "
                 "Debian's non-free; KILN_PTXAS names it");
}

Result<std::filesystem::path> find_libclc(const std::string &named, int clang_major) {
  std::vector<std::string> places{named};
  if (named.empty()) {
    places = {fmt::format("/usr/lib/llvm-{}/lib{}", clang_major, kLibclcFile),
              std::string("/usr/lib") + kLibclcFile, std::string("/usr/share") + kLibclcFile};
  }
  for (const std::string &place : places) {
    std::error_code error;
    if (std::filesystem::is_regular_file(place, error)) return std::filesystem::path(place);
  }
  return missing(
      "built-ins of libclc", places,
      fmt::format("install a package such as libclc-{}; KILN_LIBCLC names the file", clang_major));
}

// Returns "sm_75", ... from the output of `ptxas --help`. Leaves out names with a letter, whose
// code is specific to one GPU in a way that OpenCL does not tell.
std::vector<std::string> architectures_of(std::string_view help) {
  std::set<std::pair<std::size_t, std::string>> found;  // by length, since sm_100 follows sm_90
  for (std::size_t at = help.find("'sm_"); at != std::string_view::npos;
       at = help.find("'sm_", at + 1)) {
    const std::string_view name = help.substr(at + 1, help.find('\'', at + 1) - at - 1);
    if (parse_architecture(name)) found.emplace(name.size(), name);
  }
  std::vector<std::string> names;
  for (const auto &[length, name] : found) names.push_back(name);
  return names;
}

std::string clang_version_number(const std::string &line) {
  const std::size_t at = line.find("version ");
  if (at == std::string::npos) return line;
  const std::string rest = line.substr(at + 8);
  return rest.substr(0, rest.find_first_of(" ("));
}

Status ask_ptxas(NvptxTools *tools) {
  const std::string name = tools->ptxas.string();
  const ProcessResult version = run_compiler(tools->ptxas, {"--version"}, "", kAskTimeout);
  tools->ptxas_version = ptxas_version_of(version.out);
  const ProcessResult help = run_compiler(tools->ptxas, {"--help"}, "", kAskTimeout);
  tools->architectures = architectures_of(help.out);
  if (tools->ptxas_version.empty() || tools->architectures.empty()) {
    return {Code::not_found,
            fmt::format("{} does not answer as ptxas does ({})", name,
                        tools->ptxas_version.empty() ? version.reason : help.reason)};
  }
  tools->driver = oldest_driver_of(tools->ptxas_version);
  if (!tools->driver.empty()) return {};
  return {Code::not_found,
          fmt::format("{} is of CUDA {}: which drivers take its code is known of CUDA 11, 12 and "
                      "13; KILN_PTXAS names another",
                      name, tools->ptxas_version)};
}

// Compiles Kiln's built-ins, which no option of a variant changes.
Status make_built_ins(NvptxTools *tools) {
  auto folder = ToolFolder::make();
  if (!folder.ok()) return folder.status();
  tools->folder = std::make_shared<const ToolFolder>(*std::move(folder));
  tools->built_ins = tools->folder->path("built_ins.bc");
  std::vector<std::string> arguments = nvptx_arguments("sm_75");
  arguments.insert(arguments.begin(), {"-x", "cl", "-cl-std=CL2.0", "-c", "-emit-llvm"});
  arguments.insert(arguments.end(), {"-Xclang", "-finclude-default-header", "-Xclang",
                                     "-nostdsysteminc", "-o", tools->built_ins, "-"});
  const std::string_view text(reinterpret_cast<const char *>(nvidia_built_ins_data),
                              nvidia_built_ins_size);
  const ProcessResult clang =
      run_compiler(tools->clang.path, std::move(arguments), text, kAskTimeout);
  if (clang.ok() && tools->folder->read("built_ins.bc").ok()) return {};
  return {Code::process,
          fmt::format("{} does not compile for NVPTX: {}\n{}", tools->clang.path.string(),
                      clang.reason, compiler_message(clang))};
}

}  // namespace

std::string ptxas_version_of(std::string_view text) {
  const std::size_t at = text.find(", V");
  if (at == std::string_view::npos) return {};
  const std::string_view version = text.substr(at + 3);
  return std::string(version.substr(0, version.find_first_not_of("0123456789.")));
}

// NVIDIA's "CUDA minor version compatibility": machine code of any minor version runs on the
// drivers of the major version's first.
std::string oldest_driver_of(std::string_view ptxas_version) {
  if (ptxas_version.starts_with("11.")) return "450.80.02";
  if (ptxas_version.starts_with("12.")) return "525.60.13";
  if (ptxas_version.starts_with("13.")) return "580.65.06";
  return {};
}

Result<NvptxTools> find_nvptx_tools(const NvptxRequest &request) {
  NvptxTools tools;
  if (Status s = find_ptxas(request.ptxas).move_to(&tools.ptxas); !s.ok()) return s;
  if (Status s = find_clang(request.clang).move_to(&tools.clang); !s.ok()) return s;
  Status s = find_libclc(request.libclc, tools.clang.major).move_to(&tools.libclc);
  if (s.ok()) s = ask_ptxas(&tools);
  if (s.ok()) s = make_built_ins(&tools);
  if (!s.ok()) return s;
  const auto digest = file_digest(tools.libclc);
  if (!digest.ok()) return digest.status();
  tools.recipe = fmt::format("virtual-nvptx 1, clang {}, libclc {}, ptxas {}",
                             clang_version_number(tools.clang.version), digest->substr(0, 8),
                             tools.ptxas_version);
  return tools;
}

}  // namespace kiln::builder
