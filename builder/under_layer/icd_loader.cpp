// SPDX-License-Identifier: Apache-2.0
// Finds ICD loaders by the dynamic linker, and by its cache, and asks them.
#include "builder/under_layer/icd_loader.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/run_tool.hpp"
#include "kiln/packs/descriptor.hpp"

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

bool knows_layers(const std::string &bytes) {
  const std::boyer_moore_searcher word(std::begin(kVariable), std::end(kVariable) - 1);
  return std::search(bytes.begin(), bytes.end(), word) != bytes.end();
}

// Which drivers a loader gets while it is asked.
enum class Drivers {
  none,     // in their place the layer (runtime/layer/no_devices.cpp), or no folder of that name
  systems,  // takes up to seconds
};

// Sets the variables under which a loader reaches the layer. The layer writes the first line of its
// report to `report`.
void set_variables(const std::string &layer, Drivers drivers, const packs::Descriptor &report) {
  std::vector<std::string> own;
  for (char **entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name(*entry, std::strcspn(*entry, "="));
    if (name.starts_with("KILN_")) own.emplace_back(name);
  }
  for (const std::string &name : own) unsetenv(name.c_str());
  if (drivers == Drivers::none) {
    unsetenv("OCL_ICD_FILENAMES");
    setenv("OCL_ICD_VENDORS", layer.c_str(), 1);
  }
  setenv(kVariable, layer.c_str(), 1);
  setenv("KILN_REPORT", fmt::format("/proc/self/fd/{}", report.get()).c_str(), 1);
}

// Calls a loader. Runs in a child: a loader may run code of its own when it is loaded. Whether it
// takes a layer that cannot be loaded here, such as one for another process's sanitizer, cannot be
// asked.
nlohmann::json call_loader(const std::string &name, const std::string &layer, Drivers drivers) {
  const packs::Descriptor report(memfd_create("report", MFD_CLOEXEC));
  set_variables(layer, drivers, report);
  void *library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  struct link_map *map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return nullptr;
  nlohmann::json answer = {{"path", map->l_name}};
  if (layer.empty() || !knows_layers(read_whole_file(map->l_name).value_or(""))) return answer;
  using GetPlatforms = int (*)(unsigned, void *, unsigned *);
  const auto get = reinterpret_cast<GetPlatforms>(dlsym(library, "clGetPlatformIDs"));
  if (!report || get == nullptr) return answer;
  if (dlopen(layer.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr) return answer;
  unsigned count = 0;
  (void)get(0, nullptr, &count);
  struct stat info {};
  answer["takes"] = fstat(report.get(), &info) == 0 && info.st_size > 0;
  return answer;
}

// Returns the answer of call_loader() in a child; an empty object if there is none.
nlohmann::json answer_of(const std::string &name, const std::string &layer, Drivers drivers) {
  constexpr std::chrono::seconds kLongest{30};
  ChildResult result = fork_call([&] { return call_loader(name, layer, drivers); }, kLongest);
  return result.ok() && result.answer.is_object() ? std::move(result.answer)
                                                  : nlohmann::json::object();
}

// Asks the loader of this name or path. Returns a loader without a path if there is none.
IcdLoader asked(const std::string &name, const std::string &layer) {
  const nlohmann::json answer = answer_of(name, layer, Drivers::none);
  IcdLoader found;
  // A loader at a path is judged by its file if it cannot be called.
  found.path = answer.value("path", name.find('/') == name.npos ? "" : name);
  if (found.path.empty()) return found;
  found.knows_layers = knows_layers(read_whole_file(found.path).value_or(""));
  found.takes_layer = found.knows_layers && answer.value("takes", true);
  if (found.knows_layers && !found.takes_layer) {  // a loader may want a driver that works
    found.takes_layer = answer_of(name, layer, Drivers::systems).value("takes", false);
  }
  found.path = resolved(found.path);
  return found;
}

}  // namespace

std::string refusal_of(const IcdLoader &loader) {
  return loader.path +
         (loader.knows_layers ? " does not take Kiln's layer" : " does not take layers");
}

Result<IcdLoader> icd_loader_at(const std::string &path, const std::string &layer) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return Status(Code::not_found, path + ": no such file");
  }
  if (read_whole_file(path).value_or("").empty()) {
    return Status(Code::io_error, path + ": cannot be read");
  }
  return asked(fs::absolute(path, error).string(), layer);
}

Result<IcdLoader> default_icd_loader(const std::string &layer) {
  IcdLoader found = asked(kName, layer);
  if (found.path.empty()) return Status(Code::no_opencl, fmt::format("there is no {}", kName));
  return found;
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

Result<IcdLoader> loader_with_layer(const std::string &layer) {
  if (const char *named = std::getenv("KILN_ICD_LOADER"); named != nullptr && *named != '\0') {
    const auto loader = icd_loader_at(named, layer);
    if (!loader.ok()) {
      return Status(Code::bad_argument, "KILN_ICD_LOADER: " + loader.status().message);
    }
    if (loader->takes_layer) return loader;
    return Status(Code::bad_argument, "KILN_ICD_LOADER: " + refusal_of(*loader));
  }
  ProcessRequest request;
  const auto tool = find_executable({"ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"});
  request.program = tool.value_or("ldconfig");
  request.arguments = {"-p"};
  for (const std::string &path : icd_loaders_listed(run_tool(request).out)) {
    auto loader = icd_loader_at(path, layer);
    if (loader.ok() && loader->takes_layer) return loader;
  }
  return Status(Code::not_found,
                "no other ICD loader takes it: install ocl-icd-libopencl1 or Khronos's "
                "OpenCL-ICD-Loader, or name one by KILN_ICD_LOADER");
}

LoaderChoice choose_icd_loader(const std::string &layer) {
  LoaderChoice choice;
  const auto loader = default_icd_loader(layer);
  if (!loader.ok()) return choice;  // the application may bring its own
  choice.found = *loader;
  if (loader->takes_layer) return choice;
  const auto other = loader_with_layer(layer);
  if (other.ok()) {
    choice.preload = other->path;
  } else {
    choice.why_not = refusal_of(*loader) + "; " + other.status().message;
  }
  return choice;
}

}  // namespace kiln::builder
