/* SPDX-License-Identifier: Apache-2.0 */
/* An application that builds programs from files:
 *
 *     sources OPTIONS FILE...
 *
 * Of each it prints how many kernels it has. Exit codes: 0, 1 a call failed, 77 no device. */
#include "first_device.h"

static char text[1 << 20];

static int build(cl_context context, const char *options, const char *path) {
  FILE *file = fopen(path, "rb");
  const char *source = text;
  size_t size;
  cl_uint count = 0;
  cl_int code;
  cl_program program;
  if (file == NULL) {
    return 1;
  }
  size = fread(text, 1, sizeof(text), file);
  fclose(file);
  program = clCreateProgramWithSource(context, 1, &source, &size, &code);
  if (program == NULL || clBuildProgram(program, 0, NULL, options, NULL, NULL) ||
      clCreateKernelsInProgram(program, 0, NULL, &count)) {
    return 1;
  }
  printf("%s: %u\n", path, (unsigned)count);
  return clReleaseProgram(program) != CL_SUCCESS;
}

int main(int count, char **words) {
  cl_device_id device;
  cl_context context;
  cl_int code;
  int failed = 0, i;
  device = first_device();
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  for (i = 2; i < count && !failed; ++i) {
    failed = build(context, words[1], words[i]);
  }
  return context == NULL || failed || clReleaseContext(context) != CL_SUCCESS;
}
