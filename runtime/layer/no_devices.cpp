// SPDX-License-Identifier: Apache-2.0
// A driver with a platform and no devices. `kiln` gives it to an ICD loader in place of the
// system's drivers, to ask whether the loader takes the layer (builder/under_layer/icd_loader.cpp):
// ocl-icd takes layers only if there is a platform, and the start of a real driver takes up to
// seconds.
#include <CL/cl_icd.h>

#include <cstring>

#include "runtime/layer/export.hpp"
#include "runtime/layer/serve/info_answers.hpp"

struct _cl_platform_id {
  const cl_icd_dispatch *functions;
};

namespace kiln::layer {
namespace {

cl_int CL_API_CALL platform_info(cl_platform_id /*platform*/, cl_platform_info what, size_t room,
                                 void *out, size_t *size) {
  constexpr cl_platform_info kSuffix = 0x0920;  // CL_PLATFORM_ICD_SUFFIX_KHR
  const char *text = what == CL_PLATFORM_EXTENSIONS ? "cl_khr_icd"
                     : what == kSuffix              ? "KILN"
                                                    : "Kiln: no devices";
  return answer(text, std::strlen(text) + 1, room, out, size);
}

cl_int CL_API_CALL platform_ids(cl_uint room, cl_platform_id *out, cl_uint *count) {
  static const cl_icd_dispatch functions = [] {
    cl_icd_dispatch made{};
    made.clGetPlatformIDs = platform_ids;
    made.clGetPlatformInfo = platform_info;
    return made;
  }();
  static _cl_platform_id platform{&functions};
  if (count != nullptr) *count = 1;
  if (room != 0 && out != nullptr) *out = &platform;
  return CL_SUCCESS;
}

}  // namespace
}  // namespace kiln::layer

KILN_EXPORT void *CL_API_CALL clGetExtensionFunctionAddress(const char *name) {
  using namespace kiln::layer;
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) {
    return reinterpret_cast<void *>(&platform_ids);
  }
  if (std::strcmp(name, "clGetPlatformInfo") == 0) return reinterpret_cast<void *>(&platform_info);
  return nullptr;
}
