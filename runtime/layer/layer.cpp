// SPDX-License-Identifier: Apache-2.0
// The functions through which an ICD loader takes a layer (CL/cl_layer.h). They call no OpenCL and
// open no file but the report's: an application that builds no program must not notice the layer.
//
// There is no clDeinitLayer, which loaders call at their end if a layer has it. The layer has
// nothing to write then, and must keep its objects: threads may still be in it, and the application
// may still call it. For these, the layer also stays in memory when a loader closes it.
#include <CL/cl_layer.h>

#include <cstring>

#include "runtime/layer/base/build_report.hpp"
#include "runtime/layer/base/next.hpp"
#include "runtime/layer/base/process.hpp"
#include "runtime/layer/export.hpp"
#include "runtime/layer/hooks.hpp"
#include "runtime/layer/serve/info_answers.hpp"

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
  stay_loaded();
  const size_t entries = set_next(*target_dispatch, num_entries);
  hooks = next;
  set_hooks(&hooks);
  report_start();
  *num_entries_ret = static_cast<cl_uint>(entries);
  *layer_dispatch_ret = &hooks;
  return CL_SUCCESS;
}

// What Khronos's loader wants since v2026.05.29, still with version 100. The last parameter is a
// list of cl_layer_properties, a type that older headers lack. The layer reads none of them.
KILN_EXPORT cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries,
                                                         const cl_icd_dispatch *target_dispatch,
                                                         cl_uint *num_entries_ret,
                                                         const cl_icd_dispatch **layer_dispatch_ret,
                                                         const cl_properties * /*properties*/) {
  return clInitLayer(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret);
}
