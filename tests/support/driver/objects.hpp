// SPDX-License-Identifier: Apache-2.0
// The driver's objects. Platforms, devices and programs are its own; contexts, queues,
// memory, kernels, samplers and events are the real driver's objects, whose first member, the
// pointer to the dispatch table, is set to this driver's table before the application sees
// them: calls come here first, and no such handle ever needs to be translated.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/driver/script.hpp"

namespace kiln::driver {

struct Platform;

struct Device {
  const cl_icd_dispatch *dispatch;  // first: the loader reads it
  const DeviceScript *script;
  Platform *platform;
  cl_device_id raw;  // null unless it forwards
};

struct Platform {
  const cl_icd_dispatch *dispatch;
  const PlatformScript *script;
  std::vector<std::unique_ptr<Device>> devices;
};

struct Program {
  const cl_icd_dispatch *dispatch = nullptr;
  std::atomic<unsigned> references{1};
  cl_program raw = nullptr;
  cl_context context = nullptr;
  Form form = Form::source;
  std::vector<Device *> devices;
  std::string source;              // given, found for IL, or out of the binary
  std::string kernels;             // their names as the binary lists them
  std::string il;                  // as given
  std::vector<std::string> given;  // binaries as given, one for each device
  Form given_form = Form::binary;  // of the first of them: ptx and cubin are NVIDIA's
  std::string options;             // of the last build, or out of the binary
  std::uint32_t generation = 0;    // how often this program was compiled
  Response response = Response::accept;
  bool native = false;  // given binaries come back verbatim
  bool wrong = false;   // its kernels compute nothing
  bool built = false;
  bool kernels_created = false;
  std::optional<cl_build_status> status;  // in place of the real one
  std::string log;                        // likewise
  std::optional<std::size_t> size;        // what CL_PROGRAM_BINARY_SIZES said instead

  // What a fault's `kernel` and `text` are looked for in.
  std::string text() const { return source + "\n" + kernels + "\n" + il; }
};

// The driver that calls are forwarded to.
struct Real {
  const cl_icd_dispatch *table;
  cl_platform_id platform;
  std::vector<cl_device_id> devices;
};

// Loaded on the first call, and never closed; null when no device forwards. A driver that
// cannot be loaded, or a device that it lacks, is the script's mistake: stop().
const Real *real_driver();

const std::vector<std::unique_ptr<Platform>> &platforms();

inline Device *device_of(cl_device_id id) { return reinterpret_cast<Device *>(id); }
inline cl_device_id handle_of(Device *device) { return reinterpret_cast<cl_device_id>(device); }
// The live program behind a handle, or null.
Program *program_of(cl_program program);
cl_program handle_of(Program *program);

// Makes a program known; from then on its handle is valid.
cl_program publish(std::unique_ptr<Program> program);
// The program of the application that stands for a real one, or null.
Program *program_of_raw(cl_program raw);
// After the last release: the handle is no longer valid.
void retire(Program *program);

const cl_icd_dispatch *dispatch_table();

// Points an object of the real driver at this driver's table.
template <typename Object>
void stamp(Object *object) {
  if (object != nullptr) *reinterpret_cast<const cl_icd_dispatch **>(object) = dispatch_table();
}

void remember(cl_context context, std::vector<Device *> devices);
std::vector<Device *> devices_of(cl_context context);
void remember(cl_command_queue queue, Device *device);
Device *device_of(cl_command_queue queue);

struct KernelState {
  Program *program = nullptr;
  std::string name;
};
void remember(cl_kernel kernel, KernelState state);
KernelState state_of(cl_kernel kernel);

// What the real driver calls the same thing.
template <typename T>
T to_real(T value) {
  return value;
}
inline cl_device_id to_real(cl_device_id id) { return id == nullptr ? id : device_of(id)->raw; }
inline cl_program to_real(cl_program program) {
  const Program *found = program_of(program);
  return found == nullptr ? nullptr : found->raw;
}
inline cl_platform_id to_real(cl_platform_id) {
  return real_driver() == nullptr ? nullptr : real_driver()->platform;
}
// Without duplicates: several scripted devices may stand on one real device.
std::vector<cl_device_id> to_real(const std::vector<Device *> &devices);

// Answers a query from bytes, as every clGet*Info does.
cl_int answer(const std::string &bytes, std::size_t size, void *value, std::size_t *size_ret);
template <typename T>
cl_int answer_value(T given, std::size_t size, void *value, std::size_t *size_ret) {
  return answer(std::string(reinterpret_cast<const char *>(&given), sizeof(given)), size, value,
                size_ret);
}

}  // namespace kiln::driver
