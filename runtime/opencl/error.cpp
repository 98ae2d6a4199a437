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

kiln_status status_of(packs::Fault fault) {
  switch (fault) {
    case packs::Fault::none: return KILN_OK;
    case packs::Fault::not_found: return KILN_ERROR_PACK_NOT_FOUND;
    case packs::Fault::io_error:
    case packs::Fault::no_space: return KILN_ERROR_PACK_IO;
    case packs::Fault::newer_version:
    case packs::Fault::unknown_feature: return KILN_ERROR_PACK_NEWER;
    case packs::Fault::bad_argument: return KILN_ERROR_ARGUMENT;
    default: return KILN_ERROR_PACK_BAD;
  }
}

}  // namespace

#define KILN_OUT_OF_LINE __attribute__((noinline))

KILN_OUT_OF_LINE Error::Error() = default;
KILN_OUT_OF_LINE Error::Error(kiln_status what, cl_int code, std::string text)
    : status(what), cl_error(code), message(std::move(text)) {}
KILN_OUT_OF_LINE Error::Error(const Error &other) = default;
KILN_OUT_OF_LINE Error::Error(Error &&other) noexcept = default;
KILN_OUT_OF_LINE Error &Error::operator=(Error &&other) noexcept = default;
KILN_OUT_OF_LINE Error::~Error() = default;

KILN_OUT_OF_LINE Error failure(kiln_status status, std::string_view message) {
  return {status, 0, std::string(message)};
}

Error failure(kiln_status status, std::initializer_list<std::string_view> parts) {
  return {status, 0, concat(parts)};
}

std::string cl_error_text(cl_int code) {
  const char *name = code_name(code);
  if (name == nullptr) return std::to_string(code);
  return concat({name, " (", std::to_string(code), ")"});
}

Error cl_failure(const char *call, cl_int code) {
  if (code == CL_SUCCESS) {
    return failure(KILN_ERROR_OPENCL, {call, " reported success without a result"});
  }
  return {KILN_ERROR_OPENCL, code, concat({call, " returned ", cl_error_text(code)})};
}

Error pack_failure(const packs::Status &status) {
  return failure(status_of(status.fault), status.message);
}

}  // namespace kiln::runtime
