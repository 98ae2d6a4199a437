#include "error.hpp"

#include <cstddef>

namespace kiln::runtime {
namespace {

const char *code_name(cl_int code) {
  struct Row {
    cl_int code;
    const char *name;
  };
  static const Row rows[] = {
      {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
      {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
      {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
      {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
      {CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
      {CL_IMAGE_FORMAT_NOT_SUPPORTED, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
      {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
      {CL_MAP_FAILURE, "CL_MAP_FAILURE"},
      {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
      {CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
      {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
      {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
      {CL_INVALID_IMAGE_SIZE, "CL_INVALID_IMAGE_SIZE"},
      {CL_INVALID_BINARY, "CL_INVALID_BINARY"},
      {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
      {CL_INVALID_PROGRAM, "CL_INVALID_PROGRAM"},
      {CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE"},
      {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
      {CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"},
      {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE"},
      {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
      {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
      {CL_INVALID_WORK_DIMENSION, "CL_INVALID_WORK_DIMENSION"},
      {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
      {CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
      {CL_INVALID_OPERATION, "CL_INVALID_OPERATION"},
      {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
      {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
      {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
  };
  for (const Row &row : rows) {
    if (row.code == code) return row.name;
  }
  return nullptr;
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

Error failure(kiln_status status, const char *message) {
  return {status, 0, std::string(message)};
}

std::string cl_error_text(cl_int code) {
  const char *name = code_name(code);
  if (name == nullptr) return std::to_string(code);
  return std::string(name) + " (" + std::to_string(code) + ")";
}

Error cl_failure(const char *call, cl_int code) {
  if (code == CL_SUCCESS) {
    return failure(KILN_ERROR_OPENCL, std::string(call) + " reported success without a result");
  }
  return {KILN_ERROR_OPENCL, code, std::string(call) + " returned " + cl_error_text(code)};
}

Error pack_failure(const packs::Status &status) {
  return failure(status_of(status.fault), status.message);
}

}  // namespace kiln::runtime
