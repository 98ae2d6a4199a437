/* SPDX-License-Identifier: Apache-2.0 */
/* An application that leaves work-group sizes to the driver:
 *
 *     unsized RANGE...
 *
 * For each range, 64 or 48x8 or 16x8x4, it launches `shape` without a local size, `required`, whose
 * size is 4, and `shape` with a local size of 2, and prints a line:
 *
 *     RANGE: CODE local XxYxZ result N, required N, given N
 *
 * where the first size is what `shape` saw, and results do not depend on it. At last it makes calls
 * that are wrong, and prints their codes. Exit codes: 0, 1 a call failed, 77 no device. */
#include "first_device.h"

enum { MOST = 1 << 16 };

static const char source[] =
    "size_t item(void) {\n"
    "  return get_global_id(0) + get_global_size(0) * (get_global_id(1) +\n"
    "         get_global_size(1) * get_global_id(2));\n"
    "}\n"
    "kernel void shape(global uint *sizes, global uint *out, uint factor) {\n"
    "  const size_t i = item();\n"
    "  if (i == 0) {\n"
    "    for (uint d = 0; d < 3; ++d) sizes[d] = get_local_size(d);\n"
    "  }\n"
    "  out[i] = out[i] * 2 + factor * (uint)i;\n"
    "}\n"
    "kernel void plain(global uint *out, uint factor) {\n"
    "  out[item()] = factor * (uint)item();\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(4, 1, 1)))\n"
    "void required(global uint *sizes, global uint *out, uint factor) {\n"
    "  out[item()] = factor;\n"
    "  sizes[0] = get_local_size(0);\n"
    "}\n";

static cl_command_queue queue;
static cl_mem sizes, out;
static cl_uint seen[3], results[MOST];

static cl_int launch(cl_kernel kernel, cl_uint dimensions, const size_t *range,
                     const size_t *local) {
  const cl_uint factor = 3;
  const cl_uint nothing = 0;
  cl_int code =
      clEnqueueFillBuffer(queue, sizes, &nothing, sizeof(nothing), 0, sizeof(seen), 0, NULL, NULL);
  code |=
      clEnqueueFillBuffer(queue, out, &nothing, sizeof(nothing), 0, sizeof(results), 0, NULL, NULL);
  code |= clSetKernelArg(kernel, 0, sizeof(sizes), &sizes);
  code |= clSetKernelArg(kernel, 1, sizeof(out), &out);
  code |= clSetKernelArg(kernel, 2, sizeof(factor), &factor);
  if (code == CL_SUCCESS) {
    code = clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, range, local, 0, NULL, NULL);
  }
  if (clEnqueueReadBuffer(queue, sizes, CL_TRUE, 0, sizeof(seen), seen, 0, NULL, NULL) ||
      clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(results), results, 0, NULL, NULL)) {
    return 1;
  }
  return code;
}

static unsigned sum(void) {
  unsigned all = 17;
  int i;
  for (i = 0; i < MOST; ++i) {
    all = all * 31 + results[i];
  }
  return all;
}

static cl_uint read_range(const char *word, size_t *range) {
  unsigned long sides[3] = {1, 1, 1};
  const int found = sscanf(word, "%lux%lux%lu", &sides[0], &sides[1], &sides[2]);
  int i;
  for (i = 0; i < 3; ++i) {
    range[i] = sides[i];
  }
  return (cl_uint)found;
}

static void run(const char *word, cl_kernel shape, cl_kernel required) {
  const size_t two[3] = {2, 1, 1};
  size_t range[3];
  const cl_uint dimensions = read_range(word, range);
  const cl_int code = launch(shape, dimensions, range, NULL);
  printf("%s: %d local %ux%ux%u result %u", word, code, seen[0], seen[1], seen[2], sum());
  printf(", required %d", launch(required, dimensions, range, NULL));
  printf(" %u", seen[0]);
  printf(", given %d", launch(shape, dimensions, range, two));
  printf(" %u\n", seen[0]);
}

static void run_plain(cl_kernel plain) {
  const cl_uint factor = 5;
  const size_t range[2] = {64, 8};
  cl_int code = clSetKernelArg(plain, 0, sizeof(out), &out);
  code |= clSetKernelArg(plain, 1, sizeof(factor), &factor);
  code |= clEnqueueNDRangeKernel(queue, plain, 2, NULL, range, NULL, 0, NULL, NULL);
  code |= clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(results), results, 0, NULL, NULL);
  printf("plain: %d result %u\n", code, sum());
}

static void run_wrong(cl_program program, cl_kernel shape) {
  const size_t range[3] = {64, 1, 1};
  cl_int code = CL_SUCCESS;
  cl_kernel unset = clCreateKernel(program, "shape", &code);
  printf("wrong: %d", clEnqueueNDRangeKernel(queue, unset, 1, NULL, range, NULL, 0, NULL, NULL));
  printf(" %d", clEnqueueNDRangeKernel(queue, shape, 0, NULL, range, NULL, 0, NULL, NULL));
  printf(" %d\n", clEnqueueNDRangeKernel(queue, shape, 4, NULL, range, NULL, 0, NULL, NULL));
  clReleaseKernel(unset);
}

int main(int count, char **words) {
  cl_device_id device;
  cl_context context;
  cl_program program;
  cl_kernel shape, required, plain;
  cl_int code;
  const char *text = source;
  int i;
  device = first_device();
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  queue = clCreateCommandQueue(context, device, 0, &code);
  program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
  if (queue == NULL || clBuildProgram(program, 0, NULL, "", NULL, NULL)) {
    return 1;
  }
  sizes = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(seen), NULL, &code);
  out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(results), NULL, &code);
  shape = clCreateKernel(program, "shape", &code);
  required = clCreateKernel(program, "required", &code);
  plain = clCreateKernel(program, "plain", &code);
  for (i = 1; i < count; ++i) {
    run(words[i], shape, required);
  }
  run_plain(plain);
  run_wrong(program, shape);
  clReleaseKernel(plain);
  clReleaseKernel(required);
  clReleaseKernel(shape);
  clReleaseMemObject(out);
  clReleaseMemObject(sizes);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  return clReleaseContext(context) != CL_SUCCESS;
}
