// SPDX-License-Identifier: Apache-2.0
// Finds ICD loaders by the dynamic linker, and by its cache.
#include "builder/layer/icd_loader.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>

#include <dlfcn.h>
#include <link.h>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/run_tool.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr char kName[] = "libOpenCL.so.1";
constexpr char kVariable[] = "OPENCL_LAYERS";

std::string resolved(const std::string &path) {
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  return error ? path : whole.string();
}

// Runs in a child: a loader may run code of its own when it is loaded.
nlohmann::json path_of_default() {
  void *library = dlopen(kName, RTLD_LAZY | RTLD_LOCAL);
  struct link_map *map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return "";
  return map->l_name;
}

}  // namespace

Result<IcdLoader> icd_loader_at(const std::string &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return Status(Code::not_found, path + ": no such file");
  }
  const std::string bytes = read_whole_file(path).value_or("");
  if (bytes.empty()) return Status(Code::io_error, path + ": cannot be read");
  const std::boyer_moore_searcher word(std::begin(kVariable), std::end(kVariable) - 1);
  return IcdLoader{resolved(path), std::search(bytes.begin(), bytes.end(), word) != bytes.end()};
}

Result<IcdLoader> default_icd_loader() {
  constexpr std::chrono::seconds kLongest{30};
  const ChildResult found = fork_call(path_of_default, kLongest);
  const std::string path =
      found.ok() && found.answer.is_string() ? found.answer.get<std::string>() : std::string();
  if (path.empty()) return Status(Code::no_opencl, fmt::format("there is no {}", kName));
  return icd_loader_at(path);
}

std::vector<std::string> icd_loaders_listed(const std::string &ldconfig) {
  // "\tlibOpenCL.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libOpenCL.so.1"
#if defined(__x86_64__)
  constexpr std::string_view kArchitecture = ",x86-64";
#elif defined(__aarch64__)
  constexpr std::string_view kArchitecture = ",AArch64";
#else
  constexpr std::string_view kArchitecture = "";
#endif
  std::vector<std::string> paths;
  std::istringstream lines(ldconfig);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, kind, arrow, path;
    words >> name >> kind >> arrow;
    std::getline(words >> std::ws, path);
    if (name == kName && arrow == "=>" && kind.find(kArchitecture) != std::string::npos) {
      paths.push_back(path);
    }
  }
  return paths;
}

Result<IcdLoader> loader_with_layers() {
  if (const char *named = std::getenv("KILN_ICD_LOADER"); named != nullptr && *named != '\0') {
    const auto loader = icd_loader_at(named);
    if (!loader.ok()) {
      return Status(Code::bad_argument, "KILN_ICD_LOADER: " + loader.status().message);
    }
    if (loader->takes_layers) return loader;
    return Status(Code::bad_argument,
                  fmt::format("KILN_ICD_LOADER: {} does not take layers", named));
  }
  ProcessRequest request;
  const auto tool = find_executable({"ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"});
  request.program = tool.value_or("ldconfig");
  request.arguments = {"-p"};
  for (const std::string &path : icd_loaders_listed(run_tool(request).out)) {
    auto loader = icd_loader_at(path);
    if (loader.ok() && loader->takes_layers) return loader;
  }
  return Status(Code::not_found,
                "no other ICD loader takes layers: install ocl-icd-libopencl1 or Khronos's "
                "OpenCL-ICD-Loader, or name one by KILN_ICD_LOADER");
}

LoaderChoice choose_icd_loader() {
  LoaderChoice choice;
  const auto loader = default_icd_loader();
  if (!loader.ok()) return choice;  // the application may bring its own
  choice.found = *loader;
  if (loader->takes_layers) return choice;
  const auto other = loader_with_layers();
  if (other.ok()) {
    choice.preload = other->path;
  } else {
    choice.why_not =
        fmt::format("{} does not take layers; {}", loader->path, other.status().message);
  }
  return choice;
}

}  // namespace kiln::builder
