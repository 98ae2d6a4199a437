// An OpenCL driver inside the test: one platform, one device, every answer scripted, every
// object counted. There is one of it; reset_fake() makes it healthy again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "opencl.hpp"

namespace kiln::test {

// What becomes of a program made from a binary, from IL or from source.
struct Script {
  cl_int create_code = CL_SUCCESS;
  bool create_object = true;
  cl_int binary_status = CL_SUCCESS;  // binaries only
  cl_int build_code = CL_SUCCESS;
  cl_build_status build_status = CL_BUILD_SUCCESS;
  std::string log;
  std::size_t log_size = 0;  // not 0: what the driver says that the log's size is
  cl_int kernel_code = CL_SUCCESS;
  bool kernel_object = true;
  cl_int kernel_info_code = CL_SUCCESS;
  cl_uint arguments = 2;
  // What the driver gives as the program's binary; nothing: the bytes it was made from.
  std::optional<std::string> binary;
  std::optional<std::string> built_with;  // the options of the build; nothing when NULL
  unsigned builds = 0;
  std::function<void()> on_build;  // what else happens inside clBuildProgram
};

struct Fake {
  Script binary;
  Script il;
  Script source;
  // The device.
  std::string driver_version = "7.1";
  std::string device_version = "OpenCL 3.0 fake";
  std::string extensions;
  std::string il_version = "SPIR-V_1.0 SPIR-V_1.1";
  bool compiler = true;
  cl_uint address_bits = 64;
  bool has_il_function = true;
  bool has_khr_il_function = false;
  std::size_t work_group_size = 64;
  // Faults of memory and launches.
  cl_int map_code = CL_SUCCESS;
  bool map_address = true;
  bool event_object = true;
  cl_int launch_code = CL_SUCCESS;
  std::vector<std::size_t> global;  // of the last launch
  std::vector<std::size_t> local;
  // Objects that were made and not given back.
  long live = 0;
};

Fake &fake();
void reset_fake();

// A table of the driver's entry points as the script has them now.
std::shared_ptr<const runtime::OpenCL> fake_table();

}  // namespace kiln::test
