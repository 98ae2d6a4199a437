// SPDX-License-Identifier: Apache-2.0
// Puts the overlay's markers around binaries that come from an application's own cache.
#include "runtime/layer/foreign.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "kiln/packs/hash.hpp"
#include "runtime/overlay/driver_number.hpp"
#include "runtime/overlay/quarantine.hpp"
#include "runtime/spool/build_report.hpp"
#include "runtime/spool/devices.hpp"
#include "runtime/spool/settings.hpp"

namespace kiln::layer {
namespace {

// The overlay's quarantine for one device's driver.
struct Guard {
  runtime::Folder folder;
  runtime::Quarantine quarantine;
};

std::unique_ptr<Guard> open_guard(cl_device_id id) {
  kiln_device *device = nullptr;
  if (next_opencl() == nullptr || find_device(id, &device, nullptr) != KILN_OK) return nullptr;
  auto guard = std::make_unique<Guard>();
  if (runtime::Folder::open(settings().overlay.c_str(), &guard->folder) != 0) return nullptr;
  std::vector<runtime::Death> deaths;  // the check says what is refused for them
  guard->quarantine.open(&guard->folder, runtime::driver_number(*device->device),
                         runtime::device_label(kiln_device_info(device, "device_name"),
                                               kiln_device_info(device, "driver_version")),
                         &deaths);
  return guard;
}

// Of a process's life; null: no overlay can be used.
runtime::Quarantine *quarantine_of(cl_device_id device) {
  static std::mutex &mutex = *new std::mutex;
  static auto &guards = *new std::map<cl_device_id, std::unique_ptr<Guard>>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [place, is_new] = guards.try_emplace(device);
  if (is_new) place->second = open_guard(device);
  return place->second == nullptr ? nullptr : &place->second->quarantine;
}

runtime::BlobUse subject_of(const BinaryArguments &arguments) {
  return {packs::xxh3(arguments.binaries[0], arguments.lengths[0]), KILN_RUNG_EXACT};
}

cl_program by_driver(const BinaryArguments &arguments, cl_int *status, cl_int *code) {
  return next.clCreateProgramWithBinary(arguments.context, arguments.count, arguments.devices,
                                        arguments.lengths, arguments.binaries, status, code);
}

bool is_of(cl_context context, cl_device_id device) {
  std::size_t size = 0;
  if (next.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &size) != CL_SUCCESS) {
    return false;
  }
  std::vector<cl_device_id> devices(size / sizeof(cl_device_id));
  return next.clGetContextInfo(context, CL_CONTEXT_DEVICES, size, devices.data(), nullptr) ==
             CL_SUCCESS &&
         std::find(devices.begin(), devices.end(), device) != devices.end();
}

// What is no such call is for the driver to judge, which the layer must not ask about things that
// may not exist.
bool is_followed(const BinaryArguments &arguments) {
  return !settings().overlay.empty() && arguments.count == 1 && arguments.devices != nullptr &&
         arguments.lengths != nullptr && arguments.binaries != nullptr &&
         arguments.binaries[0] != nullptr && arguments.lengths[0] != 0 &&
         is_of(arguments.context, arguments.devices[0]);
}

cl_program refuse(const std::string &why, cl_int *status, cl_int *code) {
  Built built;
  built.reason = "the application's own binary: " + why;
  append_report(built);
  if (status != nullptr) *status = CL_INVALID_BINARY;
  *code = CL_INVALID_BINARY;
  return nullptr;
}

}  // namespace

cl_program create_with_binary(const BinaryArguments &arguments, cl_int *status, cl_int *code) {
  runtime::Quarantine *quarantine =
      is_followed(arguments) ? quarantine_of(arguments.devices[0]) : nullptr;
  if (quarantine == nullptr) return by_driver(arguments, status, code);
  const runtime::BlobUse subject = subject_of(arguments);
  const packs::Status allowed = quarantine->check(subject);
  if (!allowed.ok()) return refuse(allowed.message, status, code);
  cl_program made = nullptr;
  {
    const runtime::Guarded guarded(quarantine, subject, 0);
    made = by_driver(arguments, status, code);
  }
  if (made == nullptr) return made;
  auto known = std::make_shared<Program>();
  known->handle = made;
  known->context = arguments.context;
  known->kind = Program::Kind::own_binary;
  known->binary = subject.id;
  objects().add(known);
  return made;
}

cl_int build_foreign(const ProgramPointer &program, const BuildArguments &arguments) {
  const auto call = [&] {
    return next.clBuildProgram(program->handle, arguments.device_count, arguments.devices,
                               arguments.options, arguments.notify, arguments.user);
  };
  const cl_device_id device = only_device(program->handle);
  runtime::Quarantine *quarantine = device == nullptr ? nullptr : quarantine_of(device);
  if (quarantine == nullptr || arguments.notify != nullptr) return call();
  runtime::Guarded guarded(quarantine, {program->binary, KILN_RUNG_EXACT}, 0);
  const cl_int code = call();
  if (code == CL_SUCCESS) guarded.end(runtime::Verdict::taken);
  return code;
}

}  // namespace kiln::layer
