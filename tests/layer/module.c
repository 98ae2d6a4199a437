/* SPDX-License-Identifier: Apache-2.0 */
/* An application that brings SPIR-V:
 *
 *     module FILE [constant]
 *
 * It builds the module of FILE, whose kernel is square(global int *), for the first device that
 * takes SPIR-V, and prints what it can ask of it, and the result of a launch. With "constant" it
 * sets a specialisation constant that the module does not have. Exit codes: 0, 1 a call failed, 77
 * no such device. */
#define CL_TARGET_OPENCL_VERSION 220
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS = 16, PLATFORMS = 16 };

static cl_context context;
static cl_device_id device;

static int find_device(void) {
  cl_platform_id platforms[PLATFORMS];
  cl_uint count = 0, i;
  clGetPlatformIDs(PLATFORMS, platforms, &count);
  for (i = 0; i < count && i < PLATFORMS; ++i) {
    char version[256] = "";
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS &&
        clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, sizeof(version), version, NULL) ==
            CL_SUCCESS &&
        strstr(version, "SPIR-V") != NULL) {
      return 1;
    }
  }
  return 0;
}

static void say_program(cl_program program, size_t length) {
  static char il[1 << 20], text[1024];
  size_t size = 0;
  cl_uint references = 0;
  clGetProgramInfo(program, CL_PROGRAM_IL, sizeof(il), il, &size);
  printf("IL %s\n", size == length ? "is whole" : "is another");
  clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof(text), text, &size);
  printf("source of %zu bytes\n", size);
  clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof(text), text, NULL);
  printf("kernels %s\n", text);
  clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(references), &references, NULL);
  printf("references %u\n", references);
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof(text), text, NULL);
  printf("options %s\n", text);
}

static int launch(cl_program program) {
  cl_int code, sum = 0, out[ITEMS];
  size_t items = ITEMS, i;
  cl_kernel kernel = clCreateKernel(program, "square", &code);
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &code);
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(out), NULL, &code);
  if (kernel == NULL || clSetKernelArg(kernel, 0, sizeof(memory), &memory) ||
      clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL) ||
      clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL)) {
    return 0;
  }
  for (i = 0; i < ITEMS; ++i) {
    sum += out[i];
  }
  printf("sum %d\n", sum);
  return 1;
}

int main(int argc, char **argv) {
  static unsigned char bytes[1 << 20];
  const cl_int five = 5;
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  size_t length;
  cl_program program;
  cl_int code;
  if (file == NULL) {
    return 1;
  }
  length = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  if (!find_device()) {
    puts("SKIP: no device takes SPIR-V");
    return 77;
  }
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  program = clCreateProgramWithIL(context, bytes, length, &code);
  printf("clCreateProgramWithIL %d\n", code);
  if (argc > 2) {
    printf("constant %s\n", clSetProgramSpecializationConstant(program, 9, sizeof(five), &five)
                                ? "is refused"
                                : "is taken");
  }
  printf("clBuildProgram %d\n", clBuildProgram(program, 0, NULL, "-cl-mad-enable", NULL, NULL));
  say_program(program, length);
  return launch(program) ? 0 : 1;
}
