/* SPDX-License-Identifier: Apache-2.0 */
/* An application with a cache of its own, as many have: a file for each program, named by a hash of
 * the source, the options, the device and its driver. after.c is the same with Kiln. */
#include <CL/cl.h>
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

static unsigned long long hash(unsigned long long seed, const char *text) {
  for (; *text != '\0'; ++text) seed = (seed ^ (unsigned char)*text) * 1099511628211ull;
  return seed;
}

static cl_program build(cl_context context, cl_device_id device, const char *options) {
  const char *text = source;
  static unsigned char bytes[1 << 20];
  unsigned char *binary = bytes;
  char name[256] = "", driver[256] = "", path[512];
  cl_program program = NULL;
  cl_int status;
  size_t size = 0;
  FILE *file;

  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, NULL);
  clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof(driver), driver, NULL);
  sprintf(path, "cache-%016llx.bin",
          hash(hash(hash(hash(14695981039346656037ull, source), options), name), driver));
  file = fopen(path, "rb");
  if (file != NULL) {
    size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    program = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&binary,
                                        NULL, &status);
    if (program != NULL && clBuildProgram(program, 1, &device, options, NULL, NULL) == CL_SUCCESS)
      return program;
    if (program != NULL) clReleaseProgram(program);
  }
  program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, options, NULL, NULL), "clBuildProgram");
  clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL);
  file = size <= sizeof(bytes) ? fopen(path, "wb") : NULL;
  if (file != NULL) {
    clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL);
    fwrite(bytes, 1, size, file);
    fclose(file);
  }
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
  printf("2 programs, %d results wrong\n", wrong);
  clReleaseMemObject(in), clReleaseMemObject(out);
  clReleaseCommandQueue(queue), clReleaseContext(context);
  return wrong != 0;
}
