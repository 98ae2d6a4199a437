/* SPDX-License-Identifier: Apache-2.0 */
/* CLBlast, which builds its kernels when a routine is first called: C = A * B and y = 2 * x + y, in
 * single precision. Prints sums of the results. Exit codes: 0, 1 a call failed, 77 no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <clblast_c.h>
#include <stdio.h>

enum { N = 64 };

static float host[N * N];

static double sum_of(cl_command_queue queue, cl_mem memory) {
  double sum = 0;
  if (clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL)) return -1;
  for (int i = 0; i < N * N; ++i) sum += host[i];
  return sum;
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
    return 77;
  }
  cl_int code = CL_SUCCESS;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  if (code) return 1;
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  if (code) return 1;
  cl_mem memory[3];
  for (int m = 0; m < 3; ++m) {
    for (int i = 0; i < N * N; ++i) host[i] = (float)((i + m) % 7) / 4;
    memory[m] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(host),
                               host, &code);
    if (code) return 1;
  }
  if (CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, N, N, N, 1,
                   memory[0], 0, N, memory[1], 0, N, 0, memory[2], 0, N, &queue, NULL)) {
    return 1;
  }
  printf("sgemm %.6f\n", sum_of(queue, memory[2]));
  if (CLBlastSaxpy(N * N, 2, memory[0], 0, 1, memory[1], 0, 1, &queue, NULL)) return 1;
  printf("saxpy %.6f\n", sum_of(queue, memory[1]));
  for (int m = 0; m < 3; ++m) clReleaseMemObject(memory[m]);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
