/* SPDX-License-Identifier: Apache-2.0 */
/* An application that uses OpenCL to the very end: in main(), in an exit handler that was
 * registered before its first OpenCL call, and in a destructor. Each time it builds a program,
 * launches its kernel and prints the result. What it made in main() it releases in the destructor.
 *
 * Exit codes: 0, 1 a call failed, 77 no device. */
#include "first_device.h"

#include <string.h>
#include <unistd.h>

static const char text[] = "kernel void k(global int *out) { *out = VALUE; }\n";

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_program programs[3];
static int is_early;

static void must(const char *call, cl_int code) {
  if (code != CL_SUCCESS) {
    printf("%s: %d\n", call, code);
    fflush(stdout);
    _exit(1);
  }
}

static void build(int number) {
  static const char *const options[] = {"-DVALUE=1", "-DVALUE=2", "-DVALUE=3"};
  const char *source = text;
  cl_int code = CL_SUCCESS;
  programs[number] = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  must("clCreateProgramWithSource", code);
  must("clBuildProgram", clBuildProgram(programs[number], 1, &device, options[number], NULL, NULL));
}

static void use(const char *when, int number) {
  const size_t one = 1;
  cl_build_status status = CL_BUILD_NONE;
  cl_int result = 0, code = CL_SUCCESS;
  cl_kernel kernel;
  cl_mem out;
  if (!is_early) {
    build(number);
  }
  must("clGetProgramBuildInfo",
       clGetProgramBuildInfo(programs[number], device, CL_PROGRAM_BUILD_STATUS, sizeof(status),
                             &status, NULL));
  kernel = clCreateKernel(programs[0], "k", &code);
  must("clCreateKernel", code);
  out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof(result), NULL, &code);
  must("clCreateBuffer", code);
  must("clSetKernelArg", clSetKernelArg(kernel, 0, sizeof(out), &out));
  must("clEnqueueNDRangeKernel",
       clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
  must("clEnqueueReadBuffer",
       clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(result), &result, 0, NULL, NULL));
  printf("%s: status %d, result %d\n", when, status, result);
  fflush(stdout);
  must("clReleaseKernel", clReleaseKernel(kernel));
  must("clReleaseMemObject", clReleaseMemObject(out));
}

static void at_exit(void) {
  if (context != NULL) {
    use("exit handler", 1);
  }
}

__attribute__((destructor)) static void at_end(void) {
  int i;
  if (context == NULL) {
    return;
  }
  use("destructor", 2);
  for (i = 0; i < 3; ++i) {
    must("clReleaseProgram", clReleaseProgram(programs[i]));
  }
  must("clReleaseCommandQueue", clReleaseCommandQueue(queue));
  must("clReleaseContext", clReleaseContext(context));
}

int main(int count, char **words) {
  cl_int code = CL_SUCCESS;
  int i;
  is_early = count > 1 && strcmp(words[1], "early") == 0;
  atexit(at_exit);
  device = first_device();
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  must("clCreateContext", code);
  queue = clCreateCommandQueue(context, device, 0, &code);
  must("clCreateCommandQueue", code);
  for (i = 0; is_early && i < 3; ++i) {
    build(i);
  }
  use("main", 0);
  return 0;
}
