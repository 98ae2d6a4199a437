// SPDX-License-Identifier: Apache-2.0
// Lists devices in a child process, and finds a device again by index and binary key.
#include "builder/machine/opened_device.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/machine/driver_caches.hpp"
#include "builder/process/fork_call.hpp"
#include "runtime/overlay/driver_number.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using runtime::Field;

constexpr std::chrono::seconds kListTimeout{60};
constexpr std::chrono::hours kPosedListTimeout{1};  // the process that posed the driver has its own

// Facts travel as bytes: a driver's string may not be UTF-8.
json raw_identity(const runtime::Identity &identity) {
  json facts = json::object();
  for (const auto &[name, value] : identity.facts()) {
    facts[name] = json::binary(std::vector<std::uint8_t>(value.begin(), value.end()));
  }
  return facts;
}

// Loads OpenCL and lists its devices. Fails with Code::no_opencl, Code::no_device or Code::opencl;
// the message also says what was tried. Call only in child processes: the parent loads no driver.
Status load_and_list(std::shared_ptr<const runtime::OpenCL> *cl,
                     std::vector<runtime::DeviceId> *ids) {
  auto table = std::make_shared<runtime::OpenCL>();
  const auto usual = runtime::default_opencl_candidates();
  std::string tried;
  if (Status s = runtime::load_opencl(usual.names, usual.count, table.get(), &tried); !s.ok()) {
    return s;
  }
  if (Status status = runtime::list_devices(*table, ids); !status.ok()) {
    status.message += "\nOpenCL library:\n" + tried;
    if (status.code == Code::no_device) {
      status.message += "install the device's driver, such as pocl-opencl-icd for processors";
      if (std::getenv("OCL_ICD_VENDORS") != nullptr) {
        status.message += ", or unset OCL_ICD_VENDORS, which says where drivers are looked for";
      }
    }
    return status;
  }
  *cl = std::move(table);
  return {};
}

// Returns the files of this process's executable mappings but the program's own. Other mappings may
// be a driver's caches.
std::set<std::string> loaded_libraries() {
  std::error_code ignored;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    const std::size_t rights = line.find(' ');
    if (path != std::string::npos && rights + 3 < path && line[rights + 3] == 'x') {
      if (line.compare(path, std::string::npos, program) != 0) files.insert(line.substr(path));
    }
  }
  return files;
}

json describe_all() {
  const bool kept = keep_listed_caches();
  std::shared_ptr<const runtime::OpenCL> cl;
  std::vector<runtime::DeviceId> ids;
  if (Status s = load_and_list(&cl, &ids); !s.ok()) return to_json(s);
  json devices = json::array();
  for (const runtime::DeviceId id : ids) {
    const auto device = runtime::open_device(cl, id);
    devices.push_back({{"identity", raw_identity(device->identity)},
                       {"capabilities", device->capabilities},
                       {"driver_number", runtime::driver_number(*device)}});
  }
  if (kept) await_mesa();
  return {{"devices", devices}, {"libraries", loaded_libraries()}};
}

DeviceInfo device_from(const json &in, std::size_t index) {
  DeviceInfo info;
  info.index = index;
  for (const auto &[name, value] : in.at("identity").items()) {
    const auto &bytes = value.get_binary();
    if (const auto field = runtime::field_from_name(name)) {
      info.identity.set(*field, std::string(bytes.begin(), bytes.end()));
    }
  }
  info.description = runtime::describe(info.identity);
  info.driver_number = in.at("driver_number").get<std::uint64_t>();
  info.capabilities = in.at("capabilities").get<runtime::Capabilities>();
  info.capabilities.profile = info.description.profile;
  return info;
}

}  // namespace

Result<std::vector<DeviceInfo>> list_devices(std::vector<std::string> *libraries) {
  const bool posed = std::getenv(kListedCaches) != nullptr;
  const ChildResult child =
      fork_call(describe_all, posed ? std::chrono::milliseconds(kPosedListTimeout) : kListTimeout);
  if (Status s = child.status(); !s.ok()) {
    if (!child.ok()) s.message = "listing the OpenCL devices: " + s.message;
    return s;
  }
  std::vector<DeviceInfo> devices;
  for (const json &entry : child.answer["devices"]) {
    devices.push_back(device_from(entry, devices.size()));
  }
  if (libraries != nullptr) child.answer["libraries"].get_to(*libraries);
  return devices;
}

std::vector<DeviceInfo> select_devices(const std::vector<DeviceInfo> &devices,
                                       const std::string &selector) {
  if (selector.empty()) return devices;
  std::vector<DeviceInfo> selected;
  const bool index = selector.find_first_not_of("0123456789") == std::string::npos;
  for (const DeviceInfo &device : devices) {
    const bool matches = index ? std::to_string(device.index) == selector
                               : glob_match(selector, device.identity.text(Field::platform_name)) ||
                                     glob_match(selector, device.identity.text(Field::device_name));
    if (matches) selected.push_back(device);
  }
  return selected;
}

Result<std::vector<DeviceInfo>> find_devices(const std::string &selector,
                                             std::vector<std::string> *libraries) {
  const auto devices = list_devices(libraries);
  if (!devices.ok()) return Status(Code::no_device, devices.status().message);
  auto selected = select_devices(*devices, selector);
  if (!selected.empty()) return selected;
  std::string text = fmt::format("no device matches \"{}\"; there are:", selector);
  for (const auto &device : *devices) {
    text += fmt::format("\n  {}  {}", device.index, device.label());
  }
  return Status(Code::no_device, std::move(text));
}

Status OpenedDevice::open(const DeviceInfo &info) {
  std::shared_ptr<const runtime::OpenCL> cl;
  std::vector<runtime::DeviceId> ids;
  if (Status s = load_and_list(&cl, &ids); !s.ok()) return s;
  if (info.index >= ids.size()) return {Code::no_device, "the device is gone"};
  device = runtime::open_device(cl, ids[info.index]);
  if (device->key().text() != info.description.key.text()) {
    return {Code::no_device, "the device at index " + std::to_string(info.index) +
                                 " is not the one that was listed"};
  }
  return runtime::create_context(*device, &context);
}

}  // namespace kiln::builder
