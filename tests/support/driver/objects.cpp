// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/objects.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace kiln::driver {
namespace {

std::vector<std::unique_ptr<Platform>> make_platforms() {
  std::vector<std::unique_ptr<Platform>> made;
  for (const PlatformScript &from : script().platforms) {
    auto platform = std::make_unique<Platform>();
    platform->dispatch = dispatch_table();
    platform->script = &from;
    for (const DeviceScript &device : from.devices) {
      cl_device_id raw = nullptr;
      if (device.forward) {
        const auto &real = real_driver()->devices;
        if (device.real_device >= real.size()) stop("the real driver has no such device");
        raw = real[device.real_device];
      }
      platform->devices.push_back(
          std::make_unique<Device>(Device{dispatch_table(), &device, platform.get(), raw}));
    }
    made.push_back(std::move(platform));
  }
  return made;
}

// What is known of the real driver's objects, by their handle. An entry lives until its
// address is used again; programs live to the end, so that a stale handle is told from a
// live one.
struct Registry {
  std::mutex mutex;
  std::map<cl_context, std::vector<Device *>> contexts;
  std::map<cl_command_queue, Device *> queues;
  std::map<cl_kernel, KernelState> kernels;
  std::map<cl_program, Program *> by_raw;
  std::set<Program *> live;
  std::vector<std::unique_ptr<Program>> programs;
};

Registry &registry() {
  static auto *const made = new Registry;  // used until the process is gone
  return *made;
}

template <typename Map, typename Key>
typename Map::mapped_type find(Map Registry::*map, Key key) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  const auto found = (registry().*map).find(key);
  return found == (registry().*map).end() ? typename Map::mapped_type() : found->second;
}

}  // namespace

const std::vector<std::unique_ptr<Platform>> &platforms() {
  static const auto *const made = new std::vector<std::unique_ptr<Platform>>(make_platforms());
  return *made;
}

Program *program_of(cl_program program) {
  auto *candidate = reinterpret_cast<Program *>(program);
  const std::lock_guard<std::mutex> lock(registry().mutex);
  return registry().live.count(candidate) == 0 ? nullptr : candidate;
}

cl_program handle_of(Program *program) { return reinterpret_cast<cl_program>(program); }

cl_program publish(std::unique_ptr<Program> program) {
  Program *made = program.get();
  made->dispatch = dispatch_table();
  const std::lock_guard<std::mutex> lock(registry().mutex);
  registry().programs.push_back(std::move(program));
  registry().live.insert(made);
  registry().by_raw[made->raw] = made;
  return handle_of(made);
}

Program *program_of_raw(cl_program raw) { return find(&Registry::by_raw, raw); }

void retire(Program *program) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  registry().live.erase(program);
}

void remember(cl_context context, std::vector<Device *> devices) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  registry().contexts[context] = std::move(devices);
}

std::vector<Device *> devices_of(cl_context context) { return find(&Registry::contexts, context); }

void remember(cl_command_queue queue, Device *device) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  registry().queues[queue] = device;
}

Device *device_of(cl_command_queue queue) { return find(&Registry::queues, queue); }

void remember(cl_kernel kernel, KernelState state) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  registry().kernels[kernel] = std::move(state);
}

KernelState state_of(cl_kernel kernel) { return find(&Registry::kernels, kernel); }

std::vector<cl_device_id> to_real(const std::vector<Device *> &devices) {
  std::vector<cl_device_id> raw;
  for (const Device *device : devices) {
    if (std::find(raw.begin(), raw.end(), device->raw) == raw.end()) raw.push_back(device->raw);
  }
  return raw;
}

cl_int answer(const std::string &bytes, std::size_t size, void *value, std::size_t *size_ret) {
  if (size_ret != nullptr) *size_ret = bytes.size();
  if (value == nullptr) return CL_SUCCESS;
  if (size < bytes.size()) return CL_INVALID_VALUE;
  std::memcpy(value, bytes.data(), bytes.size());
  return CL_SUCCESS;
}

}  // namespace kiln::driver
