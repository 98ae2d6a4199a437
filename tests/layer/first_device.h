/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL for the test applications, and the device on which they work. */
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

/* The first device of the first platform. Without one the application ends, with exit code 77. */
static cl_device_id first_device(void) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
    printf("SKIP: there is no OpenCL device\n");
    exit(77);
  }
  return device;
}
