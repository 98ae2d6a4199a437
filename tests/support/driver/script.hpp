// SPDX-License-Identifier: Apache-2.0
// The script: what KILN_TEST_DRIVER's TOML file says, as values. README.md describes the keys.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/driver/opencl.hpp"

namespace kiln::driver {

// What a program was made from. The last two are binaries too, told apart in faults: NVIDIA's.
enum class Form { source, binary, il, ptx, cubin };

// How a device's binaries look, in BinaryRules: NVIDIA's are PTX, and it takes cubins; Intel's are
// ELF files that also hold SPIR-V.
enum class Shape { own, nvidia, intel };

// What the driver does with a binary that is not its own, in BinaryRules.
enum class Response { accept, recompile, wrong, refuse, segv, abort, exit, hang };

// Where a refusal or a death happens.
enum class Stage { create, build, kernel };

enum class Action {
  segv,
  abort,
  exit,
  hang,
  hoard,
  slow,
  error,
  null,
  program_with_error,
  status_failed,
  recompile,
  empty,
  lie,
  wrong_arguments,
  wrong_size,
  skip,
};

// Answers of clGet*Info as bytes, by the number of the query.
struct Answers {
  std::map<cl_uint, std::string> values;
  std::set<cl_uint> failing;
};

struct BinaryRules {
  std::string model;
  std::string driver_version;
  std::vector<std::string> accepts;  // models whose binaries are as good as its own
  std::uint32_t revision = 0;
  bool source = true;
  bool late = false;
  int refusal = CL_INVALID_BINARY;
  Stage at = Stage::create;
  Response other_model = Response::refuse;
  Response other_driver = Response::refuse;
  Response other_revision = Response::refuse;
  Response corrupt = Response::refuse;
  Shape shape = Shape::own;
  std::string ptx_version = "8.8";            // what NVIDIA's shape writes, and the newest it takes
  Response cubin = Response::accept;          // what happens to a cubin that fits
  unsigned compute_capability = 0;            // 9.0 is 90; 0: none
  Response without_spirv = Response::accept;  // of an own binary of Intel's shape
};

struct IlRules {
  std::string versions;  // as scripted; empty: what the real device takes, if it does
  std::vector<std::string> sources;
  std::string options;
};

struct DeviceScript {
  std::string name;
  bool forward = false;
  std::size_t real_device = 0;
  cl_device_type type = CL_DEVICE_TYPE_GPU;
  Answers answers;
  std::string prints;     // what each launch gives to the callback of cl_arm_printf
  std::string suggested;  // what clGetKernelSuggestedLocalWorkSizeKHR answers, size_t by size_t
  BinaryRules binary;
  IlRules il;
};

struct PlatformScript {
  Answers answers;
  std::vector<DeviceScript> devices;
};

// One fault and when it happens; absent conditions hold always.
struct Fault {
  std::string at;
  Action action = Action::error;
  std::optional<Form> form;
  std::string kernel;
  std::string text;
  std::string option;          // the program's build options have it
  std::string without_option;  // they do not have it
  std::string device;
  std::optional<cl_uint> query;
  bool unbuilt = false;
  unsigned nth = 0;  // 0: each time
  std::string once;
  int code = CL_OUT_OF_RESOURCES;
  unsigned milliseconds = 0;
  std::size_t size = 0;
  std::string log;
};

struct Script {
  std::string real = "libpocl.so.2";
  std::string log;
  std::set<std::string> absent;  // entry points that this driver does not have
  std::vector<PlatformScript> platforms;
  std::vector<Fault> faults;
};

// The script of this process, read on the first call. A script that is missing or says what
// nobody understands ends the process: see stop().
const Script &script();

// Prints "kiln test driver: MESSAGE" to standard error and ends the process with code 120.
[[noreturn]] void stop(const std::string &message);

}  // namespace kiln::driver
