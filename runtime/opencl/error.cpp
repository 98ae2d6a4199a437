// SPDX-License-Identifier: Apache-2.0
// Names OpenCL's error codes, and converts codes of packs to codes of the C interface.
#include "runtime/opencl/error.hpp"

#include <cstring>

namespace kiln::runtime {
namespace {

// Names without "CL_", from -1 downwards, each with a NUL after it; empty: no name. One string
// takes a third of a switch's bytes.
constexpr char kNames[] =
    "DEVICE_NOT_FOUND\0DEVICE_NOT_AVAILABLE\0COMPILER_NOT_AVAILABLE\0"
    "MEM_OBJECT_ALLOCATION_FAILURE\0OUT_OF_RESOURCES\0OUT_OF_HOST_MEMORY\0"
    "PROFILING_INFO_NOT_AVAILABLE\0\0\0IMAGE_FORMAT_NOT_SUPPORTED\0"
    "BUILD_PROGRAM_FAILURE\0MAP_FAILURE\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "INVALID_VALUE\0\0\0INVALID_DEVICE\0INVALID_CONTEXT\0\0\0\0INVALID_MEM_OBJECT\0\0"
    "INVALID_IMAGE_SIZE\0\0INVALID_BINARY\0INVALID_BUILD_OPTIONS\0INVALID_PROGRAM\0"
    "INVALID_PROGRAM_EXECUTABLE\0INVALID_KERNEL_NAME\0\0\0INVALID_ARG_INDEX\0"
    "INVALID_ARG_VALUE\0INVALID_ARG_SIZE\0INVALID_KERNEL_ARGS\0INVALID_WORK_DIMENSION\0"
    "INVALID_WORK_GROUP_SIZE\0INVALID_WORK_ITEM_SIZE\0\0\0\0INVALID_OPERATION\0\0"
    "INVALID_BUFFER_SIZE\0\0INVALID_GLOBAL_WORK_SIZE\0";
constexpr cl_int kLastName = -63;

// Returns the name without "CL_"; empty for other codes.
const char *code_name(cl_int code) {
  if (code == -1001) return "PLATFORM_NOT_FOUND_KHR";
  if (code >= 0 || code < kLastName) return "";
  const char *name = kNames;
  for (; code < -1; ++code) name += std::strlen(name) + 1;
  return name;
}

}  // namespace

std::string signed_decimal(cl_int value) {
  if (value >= 0) return decimal(static_cast<unsigned>(value));
  return concat({"-", decimal(0u - static_cast<unsigned>(value))});
}

std::string cl_error_text(cl_int code) {
  const std::string number = signed_decimal(code);
  const char *name = code_name(code);
  return *name == 0 ? number : concat({"CL_", name, " (", number, ")"});
}

Status cl_failure(const char *call, cl_int code) {
  if (code == CL_SUCCESS) {
    return Status::error(Code::opencl, {call, " reported success without a result"});
  }
  return {Code::opencl, code, concat({call, " returned ", cl_error_text(code)})};
}

kiln_status status_of(Code code) {
  switch (code) {
    case Code::ok: return KILN_OK;
    case Code::not_found: return KILN_ERROR_PACK_NOT_FOUND;
    case Code::io_error:
    case Code::no_space: return KILN_ERROR_PACK_IO;
    case Code::newer_version:
    case Code::unknown_feature: return KILN_ERROR_PACK_NEWER;
    case Code::bad_argument: return KILN_ERROR_ARGUMENT;
    case Code::no_opencl: return KILN_ERROR_NO_OPENCL;
    case Code::no_device: return KILN_ERROR_NO_DEVICE;
    case Code::opencl: return KILN_ERROR_OPENCL;
    case Code::not_in_pack: return KILN_ERROR_NOT_IN_PACK;
    case Code::requirement: return KILN_ERROR_REQUIREMENT;
    case Code::no_rung: return KILN_ERROR_NO_RUNG;
    case Code::untrusted: return KILN_ERROR_UNTRUSTED;
    default: return KILN_ERROR_PACK_BAD;
  }
}

}  // namespace kiln::runtime
