// SPDX-License-Identifier: Apache-2.0
// Reads the ICD loader's files, and asks each platform for its devices.
#include "builder/machine/platforms.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <dlfcn.h>

#include "builder/base/whole_file.hpp"
#include "builder/process/fork_call.hpp"
#include "runtime/opencl/error.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::chrono::seconds kTimeout{60};
constexpr cl_uint kMaxPlatforms = 256;

std::vector<fs::path> icd_files() {
  const char *named = std::getenv("OCL_ICD_VENDORS");
  const fs::path place = named == nullptr || *named == '\0' ? "/etc/OpenCL/vendors" : named;
  std::vector<fs::path> files;
  std::error_code error;
  if (!fs::is_directory(place, error)) {
    if (place.extension() == ".icd") files.push_back(place);
    return files;
  }
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".icd") files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string library_in(const fs::path &icd) {
  std::string library;
  std::ifstream file = open_file(icd);
  std::getline(file, library);
  return library;
}

Driver driver_of(const fs::path &icd) {
  Driver driver{icd.string(), library_in(icd), {}};
  if (driver.library.empty()) {
    driver.status = {Code::bad_input, "the file names no library"};
    return driver;
  }
  const ChildResult loaded = fork_call(
      [&]() -> json {
        const void *library = dlopen(driver.library.c_str(), RTLD_LAZY | RTLD_LOCAL);
        return library == nullptr ? dlerror() : "";
      },
      kTimeout);
  const std::string said = loaded.ok() ? loaded.answer.get<std::string>() : loaded.reason();
  if (!said.empty()) driver.status = {Code::no_opencl, said};
  return driver;
}

json platform_text(const runtime::OpenCL &cl, cl_platform_id platform, cl_platform_info what) {
  std::size_t size = 0;
  if (cl.clGetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (cl.clGetPlatformInfo(platform, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return text.substr(0, text.find('\0'));
}

json platforms_here() {
  runtime::OpenCL cl{};
  const auto usual = runtime::default_opencl_candidates();
  if (Status s = runtime::load_opencl(usual.names, usual.count, &cl, nullptr); !s.ok()) {
    return to_json(s);
  }
  json platforms = json::array();
  cl_platform_id ids[kMaxPlatforms];
  cl_uint count = 0;
  if (cl.clGetPlatformIDs(kMaxPlatforms, ids, &count) != CL_SUCCESS) count = 0;
  for (cl_uint i = 0; i < std::min(count, kMaxPlatforms); ++i) {
    cl_uint devices = 0;
    const cl_int code = cl.clGetDeviceIDs(ids[i], CL_DEVICE_TYPE_ALL, 0, nullptr, &devices);
    platforms.push_back({{"name", platform_text(cl, ids[i], CL_PLATFORM_NAME)},
                         {"version", platform_text(cl, ids[i], CL_PLATFORM_VERSION)},
                         {"devices", code == CL_SUCCESS ? devices : 0},
                         {"why_none", code == CL_SUCCESS ? "" : runtime::cl_error_text(code)}});
  }
  return {{"platforms", platforms}};
}

}  // namespace

std::vector<std::string> driver_libraries() {
  std::vector<std::string> libraries;
  for (const fs::path &icd : icd_files()) {
    if (std::string library = library_in(icd); !library.empty()) {
      libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

std::vector<Driver> installed_drivers() {
  std::vector<Driver> drivers;
  for (const fs::path &icd : icd_files()) drivers.push_back(driver_of(icd));
  return drivers;
}

Result<std::vector<Platform>> list_platforms() {
  const ChildResult child = fork_call(platforms_here, kTimeout);
  if (Status s = child.status(); !s.ok()) return s;
  std::vector<Platform> platforms;
  for (const json &one : child.answer["platforms"]) {
    platforms.push_back({one["name"], one["version"], one["devices"], one["why_none"]});
  }
  return platforms;
}

}  // namespace kiln::builder
