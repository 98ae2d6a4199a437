// SPDX-License-Identifier: Apache-2.0
// The names of OpenCL's error codes, and the codes of packs as those of the C interface.
#include "runtime/opencl/error.hpp"

#include <cstddef>

namespace kiln::runtime {
namespace {

const char *code_name(cl_int code) {
#define KILN_CODE_NAME(code) \
  case code: return #code
  switch (code) {
    KILN_CODE_NAME(CL_DEVICE_NOT_FOUND);
    KILN_CODE_NAME(CL_DEVICE_NOT_AVAILABLE);
    KILN_CODE_NAME(CL_COMPILER_NOT_AVAILABLE);
    KILN_CODE_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
    KILN_CODE_NAME(CL_OUT_OF_RESOURCES);
    KILN_CODE_NAME(CL_OUT_OF_HOST_MEMORY);
    KILN_CODE_NAME(CL_PROFILING_INFO_NOT_AVAILABLE);
    KILN_CODE_NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED);
    KILN_CODE_NAME(CL_BUILD_PROGRAM_FAILURE);
    KILN_CODE_NAME(CL_MAP_FAILURE);
    KILN_CODE_NAME(CL_INVALID_VALUE);
    KILN_CODE_NAME(CL_INVALID_DEVICE);
    KILN_CODE_NAME(CL_INVALID_CONTEXT);
    KILN_CODE_NAME(CL_INVALID_MEM_OBJECT);
    KILN_CODE_NAME(CL_INVALID_IMAGE_SIZE);
    KILN_CODE_NAME(CL_INVALID_BINARY);
    KILN_CODE_NAME(CL_INVALID_BUILD_OPTIONS);
    KILN_CODE_NAME(CL_INVALID_PROGRAM);
    KILN_CODE_NAME(CL_INVALID_PROGRAM_EXECUTABLE);
    KILN_CODE_NAME(CL_INVALID_KERNEL_NAME);
    KILN_CODE_NAME(CL_INVALID_ARG_INDEX);
    KILN_CODE_NAME(CL_INVALID_ARG_VALUE);
    KILN_CODE_NAME(CL_INVALID_ARG_SIZE);
    KILN_CODE_NAME(CL_INVALID_KERNEL_ARGS);
    KILN_CODE_NAME(CL_INVALID_WORK_DIMENSION);
    KILN_CODE_NAME(CL_INVALID_WORK_GROUP_SIZE);
    KILN_CODE_NAME(CL_INVALID_WORK_ITEM_SIZE);
    KILN_CODE_NAME(CL_INVALID_OPERATION);
    KILN_CODE_NAME(CL_INVALID_BUFFER_SIZE);
    KILN_CODE_NAME(CL_INVALID_GLOBAL_WORK_SIZE);
    case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";
    default: return nullptr;
  }
#undef KILN_CODE_NAME
}

}  // namespace

std::string signed_decimal(cl_int value) {
  if (value >= 0) return decimal(static_cast<unsigned>(value));
  return concat({"-", decimal(0u - static_cast<unsigned>(value))});
}

std::string cl_error_text(cl_int code) {
  const std::string number = signed_decimal(code);
  const char *name = code_name(code);
  return name == nullptr ? number : concat({name, " (", number, ")"});
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
    default: return KILN_ERROR_PACK_BAD;
  }
}

}  // namespace kiln::runtime
