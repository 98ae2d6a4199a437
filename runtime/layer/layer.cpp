// SPDX-License-Identifier: Apache-2.0
// The two functions through which an ICD loader takes a layer (CL/cl_layer.h). They call no OpenCL
// and open no file but the report's: an application that builds no program must not notice the
// layer.
#include <CL/cl_layer.h>

#include <algorithm>
#include <cstring>

#include "runtime/layer/answer.hpp"
#include "runtime/layer/base/build_report.hpp"
#include "runtime/layer/base/next.hpp"
#include "runtime/layer/hooks.hpp"

#ifdef _WIN32
#define KILN_EXPORT extern "C" __declspec(dllexport)
#else
#define KILN_EXPORT extern "C" __attribute__((visibility("default")))
#endif

namespace kiln::layer {

namespace {

constexpr char kName[] = "Kiln";

}  // namespace
}  // namespace kiln::layer

KILN_EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name, size_t param_value_size,
                                              void *param_value, size_t *param_value_size_ret) {
  using namespace kiln::layer;
  constexpr cl_layer_api_version kVersion = CL_LAYER_API_VERSION_100;
  switch (param_name) {
    case CL_LAYER_API_VERSION:
      return answer(&kVersion, sizeof(kVersion), param_value_size, param_value,
                    param_value_size_ret);
    case CL_LAYER_NAME:
      return answer(kName, sizeof(kName), param_value_size, param_value, param_value_size_ret);
    default: return CL_INVALID_VALUE;
  }
}

KILN_EXPORT cl_int CL_API_CALL clInitLayer(cl_uint num_entries,
                                           const cl_icd_dispatch *target_dispatch,
                                           cl_uint *num_entries_ret,
                                           const cl_icd_dispatch **layer_dispatch_ret) {
  using namespace kiln::layer;
  if (target_dispatch == nullptr || num_entries_ret == nullptr || layer_dispatch_ret == nullptr) {
    return CL_INVALID_VALUE;
  }
  static cl_icd_dispatch hooks;
  // A loader that finds the layer in two places must not put it above itself.
  const bool has_hooks = hooks.clBuildProgram != next.clBuildProgram;
  if (has_hooks && target_dispatch->clBuildProgram == hooks.clBuildProgram) {
    return CL_INVALID_OPERATION;
  }
  // The table holds function pointers, and later versions only add to its end.
  const size_t known = sizeof(cl_icd_dispatch) / sizeof(void *);
  const size_t entries = std::min<size_t>(known, num_entries);
  std::memcpy(static_cast<void *>(&next), target_dispatch, entries * sizeof(void *));
  hooks = next;
  set_hooks(&hooks);
  report_start();
  *num_entries_ret = static_cast<cl_uint>(entries);
  *layer_dispatch_ret = &hooks;
  return CL_SUCCESS;
}
