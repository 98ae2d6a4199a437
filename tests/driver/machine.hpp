// SPDX-License-Identifier: Apache-2.0
// A machine through the loader's functions alone, as any OpenCL application uses it. All of
// it is for child processes: what fails throws.
#pragma once

#include <array>
#include <cstring>
#include <stdexcept>

#include <dlfcn.h>

#include "kiln/kiln.h"
#include "tests/driver/application.hpp"
#include "tests/support/catch.hpp"

namespace kiln::test {

using nlohmann::json;

// The loader's function by name.
template <typename Function>
Function loader(const char *name) {
  static void *const library = dlopen("libOpenCL.so.1", RTLD_NOW);
  void *address = library == nullptr ? nullptr : dlsym(library, name);
  if (address == nullptr) throw std::runtime_error(std::string(name) + " is not there");
  Function function;
  std::memcpy(&function, &address, sizeof(function));
  return function;
}
#define CL(name) loader<decltype(&::name)>(#name)

inline void require(bool condition, const std::string &what) {
  if (!condition) throw std::runtime_error(what);
}
#define REQUIRE_CL(call) require((call) == CL_SUCCESS, #call)

template <typename T, typename Query, typename Object>
T ask(Query query, Object object, cl_uint what) {
  T value{};
  require(query(object, what, sizeof(value), &value, nullptr) == CL_SUCCESS,
          "query " + std::to_string(what));
  return value;
}

struct Machine {
  std::vector<cl_platform_id> platforms;
  std::vector<cl_device_id> devices;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

// All platforms, the devices of the first, a context with them, and a queue on the last.
inline Machine open_machine() {
  Machine machine;
  cl_uint count = 0;
  REQUIRE_CL(CL(clGetPlatformIDs)(0, nullptr, &count));
  machine.platforms.resize(count);
  REQUIRE_CL(CL(clGetPlatformIDs)(count, machine.platforms.data(), nullptr));
  REQUIRE_CL(CL(clGetDeviceIDs)(machine.platforms[0], CL_DEVICE_TYPE_ALL, 0, nullptr, &count));
  machine.devices.resize(count);
  REQUIRE_CL(CL(clGetDeviceIDs)(machine.platforms[0], CL_DEVICE_TYPE_ALL, count,
                                machine.devices.data(), nullptr));
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(machine.platforms[0]), 0};
  cl_int code = CL_SUCCESS;
  machine.context =
      CL(clCreateContext)(properties, count, machine.devices.data(), nullptr, nullptr, &code);
  require(code == CL_SUCCESS, "clCreateContext");
  machine.queue = CL(clCreateCommandQueue)(machine.context, machine.devices.back(),
                                           CL_QUEUE_PROFILING_ENABLE, &code);
  require(code == CL_SUCCESS, "clCreateCommandQueue");
  return machine;
}

inline constexpr char kSource[] =
    "__kernel void twice(__global const uint *in, __global uint *out) {"
    "  const size_t i = get_global_id(0); out[i] = 2 * in[i]; }"
    "__kernel void flip(__read_only image2d_t in, __write_only image2d_t out) {"
    "  const int2 p = (int2)(get_global_id(0), get_global_id(1));"
    "  write_imagef(out, p, 1.0f - read_imagef(in, p)); }";

inline cl_program build(const Machine &machine) {
  const char *source = kSource;
  cl_int code = CL_SUCCESS;
  cl_program program = CL(clCreateProgramWithSource)(machine.context, 1, &source, nullptr, &code);
  require(program != nullptr && code == CL_SUCCESS, "clCreateProgramWithSource");
  REQUIRE_CL(CL(clBuildProgram)(program, 0, nullptr, "", nullptr, nullptr));
  return program;
}

inline std::vector<std::string> binaries_of(cl_program program, std::size_t devices) {
  std::vector<std::size_t> sizes(devices);
  REQUIRE_CL(CL(clGetProgramInfo)(program, CL_PROGRAM_BINARY_SIZES, devices * sizeof(std::size_t),
                                  sizes.data(), nullptr));
  std::vector<std::string> binaries;
  std::vector<char *> places;
  for (const std::size_t size : sizes) binaries.emplace_back(size, '\0');
  for (std::string &binary : binaries) places.push_back(binary.data());
  REQUIRE_CL(CL(clGetProgramInfo)(program, CL_PROGRAM_BINARIES, devices * sizeof(char *),
                                  places.data(), nullptr));
  return binaries;
}

// The code of giving a binary to the machine's first device, building included.
inline cl_int take_binary(const Machine &machine, const std::string &binary, std::string *after) {
  const std::size_t size = binary.size();
  const auto *bytes = reinterpret_cast<const unsigned char *>(binary.data());
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  cl_program program = CL(clCreateProgramWithBinary)(machine.context, 1, machine.devices.data(),
                                                     &size, &bytes, &status, &code);
  if (code != CL_SUCCESS) return code;
  require(status == CL_SUCCESS, "a status without a code");
  code = CL(clBuildProgram)(program, 0, nullptr, nullptr, nullptr, nullptr);
  if (code == CL_SUCCESS && after != nullptr) *after = binaries_of(program, 1)[0];
  return code;
}

inline std::string two_devices(const std::string &second) {
  return computing_device("") + "[[platform.device]]\nforward = true\nname = \"Second GPU\"\n" +
         second + "\n";
}

// Runs the work in a child and gives its answer; what it throws fails the test.
inline json in_child(const std::string &script, const std::function<json()> &work) {
  const ScriptedDriver driver(script);
  const auto result = driver.run(work);
  INFO(result.reason());
  REQUIRE(result.ok());
  return result.answer;
}

}  // namespace kiln::test
