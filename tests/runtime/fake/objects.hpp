// SPDX-License-Identifier: Apache-2.0
// What stands behind the fake driver's handles; for the files of the fake alone.
#pragma once

#include <atomic>
#include <cstring>
#include <map>

#include "tests/runtime/fake/opencl.hpp"

namespace kiln::test {

// Entry points by name.
using FakeTable = std::map<std::string, void *>;

#define KILN_FAKE(name, function) \
  { #name, reinterpret_cast < void *>(function) }

// Queues, memory, events and launches: launch.cpp. Recording: recording.cpp.
void add_fake_launching(FakeTable *table);
// Imports, the compiler, performance, clocks and time stamps: vendor.cpp.
void add_fake_vendor(FakeTable *table);
cl_mem import_fake_host_pointer(cl_context context, std::size_t size, const void *host);
// The extension function of that name, or null.
void *fake_recording_function(const char *name);
void *fake_vendor_function(const char *name);
// The event of a command, where one is wanted.
void give_fake_event(cl_event *event);

extern Fake the_fake;
extern std::atomic<long> fake_live;

// Stands behind every handle of the fake.
struct Object {
  Script *script = nullptr;
  std::string bytes;                         // of a program; memory of a buffer
  std::map<cl_uint, std::string> arguments;  // of a kernel
  std::vector<FakeLaunch> launches;          // of a recording or a recordable queue
  void *context = nullptr;                   // of memory; the queue of a recording
  void *host = nullptr;                      // of memory over the host's
  std::size_t width = 0;                     // of an image
  std::size_t height = 0;
  std::atomic<int> references{1};
};

template <typename T>
T make(Script *script = nullptr, std::string bytes = {}) {
  ++fake_live;
  auto *object = new Object;
  object->script = script;
  object->bytes = std::move(bytes);
  return reinterpret_cast<T>(object);
}

template <typename T>
Object &object(T handle) {
  return *reinterpret_cast<Object *>(handle);
}

template <typename T>
cl_int CL_API_CALL release(T handle) {
  if (--object(handle).references > 0) return CL_SUCCESS;
  --fake_live;
  delete &object(handle);
  return CL_SUCCESS;
}

inline cl_int answer(const void *value, std::size_t bytes, std::size_t size, void *out,
                     std::size_t *size_out) {
  if (size_out != nullptr) *size_out = bytes;
  if (out == nullptr) return CL_SUCCESS;
  if (size < bytes) return CL_INVALID_VALUE;
  std::memcpy(out, value, bytes);
  return CL_SUCCESS;
}

inline cl_int answer(const std::string &text, std::size_t size, void *out, std::size_t *size_out) {
  return answer(text.c_str(), text.size() + 1, size, out, size_out);
}

}  // namespace kiln::test
