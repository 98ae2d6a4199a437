// SPDX-License-Identifier: Apache-2.0
// Lists this machine's devices, and prepares a child process to work on one: moves the driver's
// caches, opens the device, and waits for its caches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "runtime/device/device.hpp"

namespace kiln::builder {

// The variable with which a process of a posed driver (builder/virtual) names the folder for the
// caches that the driver fills when it is listed. They hold no kernel, and are the beginning of
// the process's other caches: Mesa would translate libclc again for each. Caches with a file for
// each entry (builder/finish/mesa_cache_folder.hpp) begin empty.
inline constexpr char kListedCaches[] = "KILN_LISTED_CACHES";

// Lists the devices in a child process. Fails with Code::no_opencl or Code::no_device if there is
// no OpenCL library, platform or device, and with Code::process if a driver died.
// If `libraries` is not null, sets it to the files of the libraries that the child had loaded.
Result<std::vector<DeviceInfo>> list_devices(std::vector<std::string> *libraries = nullptr);

// Returns the devices that a selector names: an index of the list, or a glob (* and ?), ignoring
// case, that must match the whole platform name or the whole device name. An empty selector names
// all devices.
std::vector<DeviceInfo> select_devices(const std::vector<DeviceInfo> &devices,
                                       const std::string &selector);

// Lists the devices, and returns those that the selector names. Fails with Code::no_device if there
// are none; the message then lists all devices.
Result<std::vector<DeviceInfo>> find_devices(const std::string &selector);

// Moves this process's driver caches below `folder`, one file each; they are empty if the folder
// holds no files and neither kListedCaches nor begin_caches_with() names any. Call before the
// process loads a driver, if the user's caches must not help it or its caches must be known. Caches
// that cannot be moved are switched off.
void use_driver_caches(const std::string &folder);

// From now on, use_driver_caches() in this process and those forked from it begins with a copy of
// the caches in each folder of `opened`, which drivers wrote when devices were opened: Mesa
// translates OpenCL's library then, which takes seconds. Nothing is copied once `opened` is gone.
void begin_caches_with(const std::string &opened);

struct OpenedDevice {
  std::shared_ptr<const runtime::Device> device;
  runtime::Handle<cl_context> context;

  // Loads OpenCL, finds the device again and makes a context. The device must still match `info`:
  // an index means nothing once a driver was replaced. Fails as load_and_list() does, with
  // Code::no_device if the device is gone or a different one, and with Code::opencl if no context
  // can be made.
  Status open(const DeviceInfo &info);
};

// Waits, at most 10 seconds, until Mesa's threads have written to disk what this process compiled.
// Returns within milliseconds if no thread has anything to write.
void await_mesa();

}  // namespace kiln::builder
