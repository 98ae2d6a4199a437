// SPDX-License-Identifier: Apache-2.0
// clFFT's transform of 16 rows of 256 values, there and back.
#include <stdio.h>
#include <stdlib.h>

#include <clFFT.h>

enum { kRow = 256, kRows = 16, kValues = kRow * kRows };

static void check(cl_int code, const char *what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s: error %d\n", what, (int)code);
  exit(1);
}

int main(void) {
  cl_platform_id platform = NULL;
  cl_device_id device = NULL;
  cl_int code = CL_SUCCESS;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  static float values[2 * kValues];
  for (int i = 0; i < kValues; ++i) values[2 * i] = (float)(i % 13);
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(values),
                                 values, &code);
  check(code, "clCreateBuffer");

  clfftSetupData setup;
  check((cl_int)clfftInitSetupData(&setup), "clfftInitSetupData");
  check((cl_int)clfftSetup(&setup), "clfftSetup");
  const size_t lengths[] = {kRow};
  clfftPlanHandle plan = 0;
  check((cl_int)clfftCreateDefaultPlan(&plan, context, CLFFT_1D, lengths),
        "clfftCreateDefaultPlan");
  check((cl_int)clfftSetPlanBatchSize(plan, kRows), "clfftSetPlanBatchSize");
  check((cl_int)clfftSetPlanDistance(plan, kRow, kRow), "clfftSetPlanDistance");
  check((cl_int)clfftBakePlan(plan, 1, &queue, NULL, NULL), "clfftBakePlan");
  const clfftDirection directions[] = {CLFFT_FORWARD, CLFFT_BACKWARD};
  for (int i = 0; i < 2; ++i) {
    check((cl_int)clfftEnqueueTransform(plan, directions[i], 1, &queue, 0, NULL, NULL, &memory,
                                        NULL, NULL),
          "clfftEnqueueTransform");
  }
  check(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL),
        "clEnqueueReadBuffer");
  printf("%.2f %.2f\n", values[2 * 7], values[2 * 300]);
  clfftDestroyPlan(&plan);
  clfftTeardown();
  return 0;
}
