/* SPDX-License-Identifier: Apache-2.0 */
/* An application that knows nothing of Kiln and uses the first two devices of a platform in one
 * context. It prints a line for everything that OpenCL lets it see of its programs there, as
 * application.c does for one device.
 *
 *     two_devices [SECTION...]
 *
 * Without arguments it runs every section. Lines "part ..." are of programs that are built for one
 * of the two.
 *
 * A kernel is launched on a device only where its program was built for it: PoCL 3.1 aborts else.
 * Exit codes: 0 it ran to its end, 77 there are no two devices. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wait_for_commands.h"

enum { DEVICES = 2, FIRST = 1, SECOND = 2, BOTH = 3 }; /* the last three are sets */

static const char source[] =
    "#ifndef FACTOR\n"
    "#define FACTOR 2\n"
    "#endif\n"
    "kernel __attribute__((reqd_work_group_size(1, 1, 1)))\n"
    "void scale(global int *out, int number) {\n"
    "  out[get_global_id(0)] = number * FACTOR;\n"
    "}\n"
    "kernel void add(global int *out, int number) { out[get_global_id(0)] = number + FACTOR; }\n";

static const char warning_source[] =
    "#warning \"a word to the reader\"\n"
    "kernel void scale(global int *out, int number) { out[get_global_id(0)] = number; }\n";

static const char wrong_source[] =
    "kernel void scale(global int *out) { out[0] = no_such_name; }\n";

/* Of a number that is a denormal as a float: 0 where launches flush those. */
static const char halving_source[] =
    "kernel void scale(global int *out, int number) {\n"
    "  out[get_global_id(0)] = as_int(as_float(number) * 0.5f);\n"
    "}\n";

static cl_device_id devices[DEVICES];
static cl_command_queue queues[DEVICES];
static cl_context context;

static const char *some(int any) { return any ? "some" : "none"; }
static const char *same(int equal) { return equal ? "same" : "other"; }

static cl_program program_of(const char *text) {
  cl_int code = -1000;
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
  if (code != CL_SUCCESS) {
    printf("clCreateProgramWithSource: %d\n", code);
  }
  return program;
}

/* The two devices, the other way round if `reversed`; of one device, that. */
static cl_int build(cl_program program, int set, int reversed, const char *options) {
  cl_device_id list[DEVICES];
  if (set != BOTH) {
    return clBuildProgram(program, 1, &devices[set == SECOND], options, NULL, NULL);
  }
  list[reversed] = devices[0];
  list[!reversed] = devices[1];
  return clBuildProgram(program, DEVICES, list, options, NULL, NULL);
}

static void say_binaries(const char *when, cl_program program) {
  size_t sizes[DEVICES] = {0, 0};
  unsigned char *binaries[DEVICES];
  size_t size = 0;
  int i;
  cl_int code = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 0, NULL, &size);
  printf("%s: BINARY_SIZES alone %d, %lu bytes\n", when, code, (unsigned long)size);
  code = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(sizes) - 1, sizes, NULL);
  printf("%s: BINARY_SIZES into too little %d\n", when, code);
  code = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, NULL);
  printf("%s: BINARY_SIZES %d %s %s\n", when, code, some(sizes[0] != 0), some(sizes[1] != 0));
  if (code != CL_SUCCESS) {
    return;
  }
  for (i = 0; i < DEVICES; ++i) {
    binaries[i] = calloc(1, sizes[i] + 1);
  }
  code = clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binaries), binaries, &size);
  printf("%s: BINARIES %d %lu bytes %s %s\n", when, code, (unsigned long)size,
         some(sizes[0] > 3 && binaries[0][3] != 0), some(sizes[1] > 3 && binaries[1][3] != 0));
  for (i = 0; i < DEVICES; ++i) {
    free(binaries[i]);
  }
}

static void say_build(const char *when, cl_program program, int i, cl_device_id device) {
  cl_build_status status = 77;
  cl_program_binary_type type = 77;
  char options[64] = "";
  size_t size = 0;
  cl_int code = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof(status),
                                      &status, NULL);
  printf("%s: device %d: STATUS %d %d\n", when, i, code, status);
  code = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof(options), options,
                               &size);
  printf("%s: device %d: OPTIONS %d %lu bytes, %s\n", when, i, code, (unsigned long)size, options);
  size = 0;
  code = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  printf("%s: device %d: LOG %d %s\n", when, i, code, size == 1 ? "empty" : some(size != 0));
  code = clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof(type), &type, NULL);
  printf("%s: device %d: BINARY_TYPE %d %u\n", when, i, code, type);
}

static void say_program(const char *when, cl_program program) {
  cl_uint count = 0, references = 0;
  cl_device_id asked[DEVICES] = {NULL, NULL};
  char names[64] = "";
  size_t kernels = 0;
  cl_int code = clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, NULL);
  printf("%s: NUM_DEVICES %d %u\n", when, code, count);
  code = clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(asked), asked, NULL);
  printf("%s: DEVICES %d %s %s\n", when, code, same(asked[0] == devices[0]),
         same(asked[1] == devices[1]));
  clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(references), &references, NULL);
  printf("%s: REFERENCE_COUNT %u\n", when, references);
  code = clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL);
  printf("%s: NUM_KERNELS %d %lu\n", when, code, (unsigned long)kernels);
  code = clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names, NULL);
  printf("%s: KERNEL_NAMES %d %s\n", when, code, names);
  say_binaries(when, program);
  say_build(when, program, 0, devices[0]);
  say_build(when, program, 1, devices[1]);
  say_build(when, program, 2, NULL);
}

static int result_on(int i, cl_kernel kernel, cl_mem out) {
  const size_t range = 1;
  cl_int value = -1;
  cl_int code = clEnqueueNDRangeKernel(queues[i], kernel, 1, NULL, &range, NULL, 0, NULL, NULL);
  if (code != CL_SUCCESS) {
    return code;
  }
  code = clEnqueueReadBuffer(queues[i], out, CL_TRUE, 0, sizeof(value), &value, 0, NULL, NULL);
  return code == CL_SUCCESS ? value : code;
}

static void say_kernel(const char *when, cl_program program, int set, const char *name) {
  const cl_int number = 21;
  size_t sizes[3] = {0, 0, 0};
  char text[64] = "";
  cl_int code = CL_SUCCESS;
  cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(number), NULL, NULL);
  cl_kernel kernel = clCreateKernel(program, name, &code);
  int i;
  printf("%s: clCreateKernel %s %d\n", when, name, code);
  if (kernel != NULL) {
    const cl_uint references = references_of(kernel);
    clSetKernelArg(kernel, 0, sizeof(out), &out);
    clSetKernelArg(kernel, 1, sizeof(number), &number);
    code = clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof(text), text, NULL);
    printf("%s: ATTRIBUTES %d %s\n", when, code, text);
    for (i = 0; i < DEVICES; ++i) {
      if ((set >> i & 1) == 0) {
        continue;
      }
      code = clGetKernelWorkGroupInfo(kernel, devices[i], CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                      sizeof(sizes), sizes, NULL);
      printf("%s: COMPILE_WORK_GROUP_SIZE on %d %d %lu\n", when, i, code, (unsigned long)sizes[0]);
      printf("%s: result of %s on %d %d\n", when, name, i, result_on(i, kernel, out));
    }
    code = clGetKernelWorkGroupInfo(kernel, NULL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(sizes),
                                    sizes, NULL);
    printf("%s: COMPILE_WORK_GROUP_SIZE of no device %d\n", when, code);
    printf("%s: build with a kernel alive %d\n", when, build(program, set, 0, ""));
    wait_for_commands(kernel, references);
    clReleaseKernel(kernel);
  }
  clReleaseMemObject(out);
}

static void say_all(const char *when, cl_program program, int set) {
  say_program(when, program);
  say_kernel(when, program, set, "scale");
  say_kernel(when, program, set, "add");
}

static void run_both(void) {
  cl_program program = program_of(source);
  say_program("before", program);
  printf("all: clBuildProgram %d\n", clBuildProgram(program, 0, NULL, "-DFACTOR=3", NULL, NULL));
  say_all("all", program, BOTH);
  printf("again: clBuildProgram %d\n", build(program, BOTH, 0, "-DFACTOR=4"));
  say_all("again", program, BOTH);
  clReleaseProgram(program);
  program = program_of(source);
  printf("reversed: clBuildProgram %d\n", build(program, BOTH, 1, ""));
  say_all("reversed", program, BOTH);
  clReleaseProgram(program);
}

/* For one, for the other, with the same options and with others; for both, and for one again. */
static void run_one_by_one(void) {
  static const struct {
    const char *when;
    int set;
    int built; /* what an application may use then, by the specification and with PoCL */
    const char *options;
  } steps[] = {{"part first", FIRST, FIRST, "-DFACTOR=5"},
               {"part second", SECOND, SECOND, "-DFACTOR=5"},
               {"part first otherwise", FIRST, FIRST, "-DFACTOR=6"},
               {"part second otherwise", SECOND, SECOND, "-DFACTOR=7"},
               {"both", BOTH, BOTH, "-DFACTOR=8"},
               {"part second alone", SECOND, SECOND, "-DFACTOR=8"}};
  cl_program program = program_of(source);
  size_t i;
  for (i = 0; i < sizeof(steps) / sizeof(steps[0]); ++i) {
    printf("%s: clBuildProgram %d\n", steps[i].when,
           build(program, steps[i].set, 0, steps[i].options));
    say_all(steps[i].when, program, steps[i].built);
  }
  clReleaseProgram(program);
}

static void run_refused(void) {
  cl_program program = program_of(wrong_source);
  printf("wrong: clBuildProgram %d\n", build(program, BOTH, 0, ""));
  say_program("wrong", program);
  clReleaseProgram(program);
  program = program_of(source);
  printf("no list: %d\n", clBuildProgram(program, DEVICES, NULL, "", NULL, NULL));
  printf("no count: %d\n", clBuildProgram(program, 0, devices, "", NULL, NULL));
  printf("unknown option: %d\n", build(program, BOTH, 0, "-no-such-option"));
  clReleaseProgram(program);
  program = program_of(warning_source);
  printf("warning: clBuildProgram %d\n", build(program, BOTH, 0, ""));
  say_program("warning", program);
  clReleaseProgram(program);
}

static void CL_CALLBACK note(cl_program program, void *data) {
  (void)program;
  ++*(volatile int *)data;
}

static void run_callback(void) {
  static int calls;
  cl_program program = program_of(source);
  printf("callback: clBuildProgram %d\n",
         clBuildProgram(program, DEVICES, devices, "-DFACTOR=9", note, &calls));
  say_kernel("callback", program, BOTH, "scale");
  printf("callback: calls %d\n", *(volatile int *)&calls);
  clReleaseProgram(program);
}

static void run_flushed(void) {
  cl_program program = program_of(halving_source);
  printf("flushed: clBuildProgram %d\n", build(program, BOTH, 0, "-cl-denorms-are-zero"));
  say_kernel("flushed", program, BOTH, "scale");
  clReleaseProgram(program);
}

/* What an application does that keeps binaries itself. */
static void run_binaries(void) {
  size_t sizes[DEVICES] = {0, 0};
  unsigned char *binaries[DEVICES];
  cl_int statuses[DEVICES] = {77, 77}, code = CL_SUCCESS;
  cl_program program = program_of(source);
  int i;
  build(program, BOTH, 0, "-DFACTOR=10");
  clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, NULL);
  for (i = 0; i < DEVICES; ++i) {
    binaries[i] = calloc(1, sizes[i] + 1);
  }
  clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binaries), binaries, NULL);
  clReleaseProgram(program);
  program = clCreateProgramWithBinary(context, DEVICES, devices, sizes,
                                      (const unsigned char **)binaries, statuses, &code);
  printf("binaries: clCreateProgramWithBinary %d %d %d\n", code, statuses[0], statuses[1]);
  printf("binaries: clBuildProgram %d\n", clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
  say_kernel("binaries", program, BOTH, "scale");
  clReleaseProgram(program);
  for (i = 0; i < DEVICES; ++i) {
    free(binaries[i]);
  }
}

static void run_link(void) {
  cl_program program = program_of(source);
  cl_program linked;
  cl_int code =
      clCompileProgram(program, DEVICES, devices, "-DFACTOR=11", 0, NULL, NULL, NULL, NULL);
  printf("compiled: clCompileProgram %d\n", code);
  say_build("compiled", program, 0, devices[0]);
  say_build("compiled", program, 1, devices[1]);
  linked = clLinkProgram(context, 0, NULL, "", 1, &program, NULL, NULL, &code);
  printf("linked: clLinkProgram %d\n", code);
  if (linked != NULL) {
    say_all("linked", linked, BOTH);
    clReleaseProgram(linked);
  }
  clReleaseProgram(program);
}

/* The first two devices of a platform; false where none has two. */
static int find_devices(void) {
  cl_platform_id platforms[16];
  cl_uint count = 0, found = 0, i;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) {
    return 0;
  }
  for (i = 0; i < count && i < 16; ++i) {
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, DEVICES, devices, &found) == CL_SUCCESS &&
        found >= DEVICES) {
      return 1;
    }
  }
  return 0;
}

static const struct {
  const char *name;
  void (*run)(void);
} sections[] = {{"both", run_both},       {"one_by_one", run_one_by_one},
                {"refused", run_refused}, {"callback", run_callback},
                {"flushed", run_flushed}, {"binaries", run_binaries},
                {"link", run_link}};

static int is_asked_for(const char *name, int argc, char **argv) {
  int i;
  for (i = 1; i < argc; ++i) {
    if (strcmp(argv[i], name) == 0) {
      return 1;
    }
  }
  return argc == 1;
}

int main(int argc, char **argv) {
  cl_int code = CL_SUCCESS;
  size_t section;
  int i;
  setvbuf(stdout, NULL, _IOLBF, 4096); /* what came before a crash is seen */
  if (!find_devices()) {
    printf("SKIP: there are no two OpenCL devices of one platform\n");
    return 77;
  }
  context = clCreateContext(NULL, DEVICES, devices, NULL, NULL, &code);
  for (i = 0; i < DEVICES && code == CL_SUCCESS; ++i) {
    queues[i] = clCreateCommandQueue(context, devices[i], 0, &code);
  }
  if (code != CL_SUCCESS) {
    fprintf(stderr, "two_devices: no context or no queue: %d\n", code);
    return 1;
  }
  for (section = 0; section < sizeof(sections) / sizeof(sections[0]); ++section) {
    if (is_asked_for(sections[section].name, argc, argv)) {
      sections[section].run();
    }
  }
  for (i = 0; i < DEVICES; ++i) {
    clReleaseCommandQueue(queues[i]);
  }
  clReleaseContext(context);
  return 0;
}
