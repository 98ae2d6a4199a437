/* SPDX-License-Identifier: Apache-2.0 */
/* A layer that says on standard error when a program is built through it, by the first
 * interface of layers alone, which loaders that want clInitLayerWithProperties leave out. */
#include <CL/cl_layer.h>
#include <stdio.h>
#include <string.h>

static cl_icd_dispatch next, own;

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
                                const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                void *user) {
  fprintf(stderr, "another layer: clBuildProgram\n");
  return next.clBuildProgram(program, count, devices, options, notify, user);
}

__attribute__((visibility("default"))) cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what,
                                                                         size_t room, void *out,
                                                                         size_t *size) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (what != CL_LAYER_API_VERSION || room < sizeof(version)) {
    return CL_INVALID_VALUE;
  }
  memcpy(out, &version, sizeof(version));
  if (size != NULL) {
    *size = sizeof(version);
  }
  return CL_SUCCESS;
}

__attribute__((visibility("default"))) cl_int CL_API_CALL clInitLayer(cl_uint count,
                                                                      const cl_icd_dispatch *below,
                                                                      cl_uint *out_count,
                                                                      const cl_icd_dispatch **out) {
  const size_t known = sizeof(next) / sizeof(void *);
  const size_t entries = count < known ? count : known;
  memcpy(&next, below, entries * sizeof(void *));
  own = next;
  own.clBuildProgram = build;
  *out_count = (cl_uint)entries;
  *out = &own;
  return CL_SUCCESS;
}
