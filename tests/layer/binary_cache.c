/* SPDX-License-Identifier: Apache-2.0 */
/* An application that keeps its program's binary in a file, as many do:
 *
 *     binary_cache FILE
 *
 * It loads the binary of FILE, or where there is none, or the driver refuses it, compiles and
 * writes FILE. It prints which, and the result of a launch. Exit codes: 0, 1 a call failed, 77 no
 * device. */
#include "first_device.h"

enum { ITEMS = 16 };

static cl_context context;
static cl_device_id device;

static cl_program load(const char *path) {
  static unsigned char bytes[1 << 22];
  FILE *file = fopen(path, "rb");
  const unsigned char *binary = bytes;
  size_t size;
  cl_int code, status;
  cl_program program;
  if (file == NULL) {
    return NULL;
  }
  size = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  program = clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &code);
  if (program != NULL && clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
    clReleaseProgram(program);
    program = NULL;
  }
  return program;
}

static void keep(cl_program program, const char *path) {
  size_t size = 0;
  unsigned char *bytes;
  FILE *file;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL) || size == 0) {
    return;
  }
  bytes = malloc(size);
  file = fopen(path, "wb");
  if (bytes != NULL && file != NULL &&
      !clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, NULL)) {
    fwrite(bytes, 1, size, file);
  }
  if (file != NULL) {
    fclose(file);
  }
  free(bytes);
}

static cl_program compile(const char *path) {
  const char *source =
      "kernel void square(global int *out) {\n"
      "  size_t i = get_global_id(0);\n"
      "  out[i] = (int)(i * i);\n"
      "}\n";
  cl_int code;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  if (program != NULL && clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_SUCCESS) {
    keep(program, path);
  }
  return program;
}

static int launch(cl_program program) {
  cl_int code, sum = 0, out[ITEMS];
  size_t items = ITEMS, i;
  cl_kernel kernel = clCreateKernel(program, "square", &code);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(out), NULL, &code);
  if (kernel == NULL || clSetKernelArg(kernel, 0, sizeof(memory), &memory) ||
      clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL) ||
      clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL)) {
    return 1;
  }
  for (i = 0; i < ITEMS; ++i) {
    sum += out[i];
  }
  printf("sum %d\n", (int)sum);
  return 0;
}

int main(int count, char **words) {
  cl_int code;
  cl_program program;
  if (count != 2) {
    return 1;
  }
  device = first_device();
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  program = load(words[1]);
  printf(program == NULL ? "compiled\n" : "loaded\n");
  fflush(stdout); /* for who looks where it died */
  if (program == NULL) {
    program = compile(words[1]);
  }
  return program == NULL ? 1 : launch(program);
}
