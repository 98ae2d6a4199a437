// SPDX-License-Identifier: Apache-2.0
// An ICD loader that takes no layers, as CUDA's. It has no platforms and few functions, so that an
// application that gets it can do nothing.
#include <CL/cl.h>

#define CL_PLATFORM_NOT_FOUND_KHR (-1001)

__attribute__((visibility("default"))) cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *out,
                                                               cl_uint *count) {
  (void)room;
  (void)out;
  if (count != NULL) *count = 0;
  return CL_PLATFORM_NOT_FOUND_KHR;
}
