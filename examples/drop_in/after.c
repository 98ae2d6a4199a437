/* SPDX-License-Identifier: Apache-2.0 */
/* before.c with Kiln in place of its cache: the pack app.kiln, which CMakeLists.txt says how to
 * make, and the folder "overlay", which keeps what this device has to compile. The pack may be
 * missing: then the overlay alone does what the cache did. */
#include <CL/cl.h>
#include <kiln/kiln_program.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000 };

static const char source[] =
    "kernel void power(global const int *x, global int *y) {\n"
    "  const size_t i = get_global_id(0);\n"
    "  int result = 1;\n"
    "  for (int n = 0; n < EXPONENT; ++n) result *= x[i];\n"
    "  y[i] = result;\n"
    "}\n";

static void check(cl_int status, const char *what) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, status);
  exit(1);
}

static void report(const char *text, void *user) {
  (void)user;
  puts(text); /* what was loaded, or why the source was built */
}

static kiln_program_options programs; /* for the whole run */

static cl_program build(cl_context context, cl_device_id device, const char *options) {
  cl_program program;
  programs.pack = "app.kiln";
  programs.overlay = "overlay";
  programs.report = report;
  check(kiln_program_build(context, device, source, options, &programs, &program), "build");
  return program;
}

int main(void) {
  int x[COUNT], y[COUNT], i, exponent, wrong = 0;
  const size_t count = COUNT;
  char options[32];
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_mem in, out;
  cl_int status;

  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "clCreateContext");
  queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue");
  for (i = 0; i < COUNT; ++i) x[i] = i;
  in = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(x), x, &status);
  check(status, "clCreateBuffer");
  out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(y), NULL, &status);
  check(status, "clCreateBuffer");

  for (exponent = 2; exponent <= 3; ++exponent) {
    cl_program program;
    cl_kernel kernel;
    sprintf(options, "-DEXPONENT=%d", exponent);
    program = build(context, device, options);
    kernel = clCreateKernel(program, "power", &status);
    check(status, "clCreateKernel");
    check(clSetKernelArg(kernel, 0, sizeof(in), &in), "clSetKernelArg");
    check(clSetKernelArg(kernel, 1, sizeof(out), &out), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL), "launch");
    check(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(y), y, 0, NULL, NULL), "read");
    for (i = 0; i < COUNT; ++i) wrong += y[i] != (exponent == 2 ? i * i : i * i * i);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
  }
  kiln_program_close(&programs); /* stores what this device compiled */
  printf("2 programs, %d results wrong\n", wrong);
  clReleaseMemObject(in), clReleaseMemObject(out);
  clReleaseCommandQueue(queue), clReleaseContext(context);
  return wrong != 0;
}
