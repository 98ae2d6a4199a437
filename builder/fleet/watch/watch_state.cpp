// SPDX-License-Identifier: Apache-2.0
// Reads cheap facts from /etc, /sys, /dev and the environment, and keeps the state as JSON.
#include "builder/fleet/watch/watch_state.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "builder/base/this_process.hpp"
#include "builder/base/whole_file.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char *kStateName = "state.json";
constexpr int kStateSchema = 1;
constexpr std::size_t kMaxStateText = std::size_t{16} << 20;  // bytes

// Beginnings of the variables that choose drivers and devices, or change what drivers report.
constexpr std::string_view kDriverVariables[] = {
    "OCL_ICD_", "OPENCL_", "POCL_",  "RUSTICL_", "MESA_", "GALLIUM_", "LP_", "NEO_",
    "ZE_",      "CUDA_",   "NVIDIA", "ROCR_",    "HIP_",  "GPU_",     "LD_", "KILN_TEST_DRIVER",
    "LIBGL_",   "Override"};
// Beginnings of the device files of drivers without a DRM node.
constexpr std::string_view kDeviceFiles[] = {"nvidia", "kfd", "mali",   "kgsl-",
                                             "dxg",    "pvr", "galcore"};

bool begins_with_any(std::string_view text, const std::string_view *begin,
                     const std::string_view *end) {
  for (; begin != end; ++begin) {
    if (text.starts_with(*begin)) return true;
  }
  return false;
}

std::string small_text(const fs::path &path) {
  std::string text = read_whole_file(path).value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void add_drm_nodes(Facts *facts) {
  std::error_code ignored;
  for (const auto &node : fs::directory_iterator("/sys/class/drm", ignored)) {
    std::string text;
    for (const char *name : {"vendor", "device", "revision", "subsystem_device"}) {
      text += small_text(node.path() / "device" / name) + " ";
    }
    (*facts)[node.path()] = text;
  }
}

std::vector<std::string> strings(const json &in) { return in.get<std::vector<std::string>>(); }

}  // namespace

void add_file(const std::string &path, Facts *facts) {
  struct stat info {};
  (*facts)[path] = stat(path.c_str(), &info) != 0
                       ? "absent"
                       : fmt::format("{} bytes, {}.{:09}, inode {}", info.st_size,
                                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ino);
}

Facts system_facts() {
  Facts facts;
  const std::string vendors = variable("OCL_ICD_VENDORS");
  const std::string icds = vendors.empty() ? "/etc/OpenCL/vendors" : vendors;
  add_file(icds, &facts);
  std::error_code ignored;
  for (const auto &file : fs::directory_iterator(icds, ignored)) {
    add_file(file.path(), &facts);
    // A path may lead through a symbolic link that an update changes.
    const std::string library = small_text(file.path());
    if (library.starts_with('/')) add_file(library, &facts);
  }
  add_file("/etc/ld.so.cache", &facts);
  for (char **entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!begins_with_any(name, std::begin(kDriverVariables), std::end(kDriverVariables))) continue;
    if (name.find("CACHE") != std::string_view::npos) continue;
    facts["variable " + std::string(name)] = text.substr(std::min(name.size() + 1, text.size()));
  }
  struct utsname system {};
  if (uname(&system) == 0) facts["kernel"] = fmt::format("{} {}", system.release, system.machine);
  facts["usable CPUs"] = std::to_string(usable_cpus());
  add_drm_nodes(&facts);
  for (const auto &file : fs::directory_iterator("/dev", ignored)) {
    const std::string name = file.path().filename();
    if (begins_with_any(name, std::begin(kDeviceFiles), std::end(kDeviceFiles))) {
      facts[file.path()] = "there";
    }
  }
  const std::string nvidia = small_text("/proc/driver/nvidia/version");
  if (!nvidia.empty()) facts["/proc/driver/nvidia/version"] = nvidia;
  return facts;
}

std::string first_difference(const Facts &before, const Facts &now) {
  for (const auto &[name, value] : now) {
    const auto found = before.find(name);
    if (found == before.end()) return name + " is new";
    if (found->second != value) return name + (value == "absent" ? " is gone" : " has changed");
  }
  for (const auto &[name, value] : before) {
    if (!now.contains(name)) return name + " is gone";
  }
  return {};
}

Result<WatchState> read_watch_state(const std::string &folder) {
  const fs::path path = fs::path(folder) / kStateName;
  std::error_code error;
  if (!fs::exists(path, error) && !error) return WatchState{};
  const std::uintmax_t size = error ? 0 : fs::file_size(path, error);
  if (error) return Status(Code::failed, fmt::format("{}: {}", path.string(), error.message()));
  const json in =
      size > kMaxStateText ? json() : json::parse(small_text(path), nullptr, false, false);
  try {
    if (in.at("schema") != kStateSchema) {
      return Status(Code::failed, path.string() + ": of another version of Kiln");
    }
    return WatchState{in.at("facts").get<Facts>(),  strings(in.at("libraries")),
                      strings(in.at("keys")),       in.at("revision").get<std::uint64_t>(),
                      in.at("settled").get<bool>(), in.at("report")};
  } catch (const json::exception &) {
    return Status(Code::failed, path.string() + ": damaged");
  }
}

Status write_watch_state(const std::string &folder, const WatchState &state) {
  const json out = {{"schema", kStateSchema},       {"facts", state.facts},
                    {"libraries", state.libraries}, {"keys", state.keys},
                    {"revision", state.revision},   {"settled", state.settled},
                    {"report", state.report}};
  const std::string text = out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  const Status status = write_whole_file((fs::path(folder) / kStateName).string(), text);
  return status.ok() ? status : Status(Code::failed, status.message);
}

}  // namespace kiln::builder
