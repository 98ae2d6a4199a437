/* SPDX-License-Identifier: Apache-2.0 */
/* An application that knows nothing of Kiln. It prints a line "SECTION.NAME: VALUE" for everything
 * that OpenCL lets it see of its programs and kernels, so that its standard output under the layer
 * can be compared byte for byte with that of a bare run.
 *
 *     application [SECTION...]
 *
 * Without arguments it runs every section. What differs from run to run is not printed: handles are
 * `same` or `other`, binaries are `some` or `none`. Codes are printed whatever they are, since
 * drivers differ in them and only two runs on one driver are compared. It writes and removes
 * application_header.h in the current folder.
 *
 * Exit codes: 0 it ran to its end, 2 wrong arguments, 77 there is no device. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* also for drivers of OpenCL 1.2 */
#include <CL/cl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wait_for_commands.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
enum { ITEMS = 64, THREADS = 8, ROUNDS = 5, SOURCES = 4, REUSES = 12, WAIT_SECONDS = 10 };

static const char two_kernels[] =
    "#ifndef FACTOR\n"
    "#define FACTOR 2\n"
    "#endif\n"
    "kernel void scale(global const int *in, global int *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = in[i] * FACTOR;\n"
    "}\n"
    "kernel __attribute__((work_group_size_hint(8, 1, 1)))\n"
    "void add(global const int *in, global int *out, int addend) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = in[i] * FACTOR + addend;\n"
    "}\n";

static const char wrong_source[] =
    "kernel void scale(global const int *in, global int *out) { out[0] = no_such_name; }\n";

static const char warning_source[] =
    "#warning \"a word to the reader\"\n"
    "kernel void scale(global const int *in, global int *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = in[i] + 1;\n"
    "}\n";

static const char including_source[] =
    "#include \"application_header.h\"\n"
    "kernel void scale(global const int *in, global int *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = in[i] + OFFSET;\n"
    "}\n";

static const char header_name[] = "application_header.h";

/* A context with its queue, since kernels run in more than one. */
typedef struct {
  cl_context context;
  cl_command_queue queue;
} Place;

static cl_platform_id platform;
static cl_device_id device;
static int version; /* of the platform: 30 for 3.0 */
static Place here;
static const char *section;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("%s.", section);
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
}

static const char *same(int equal) { return equal ? "same" : "other"; }
static const char *some(int any) { return any ? "some" : "none"; }
static const char *none_one_more(size_t count) {
  return count == 0 ? "none" : count == 1 ? "one" : "more";
}

/* A number for bytes that are too many to print. */
static unsigned checksum(const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  unsigned sum = 17;
  while (count-- != 0) {
    sum = sum * 31 + *at++;
  }
  return sum;
}

/* Memory of exactly this size, so that a checker of memory sees a byte too many. */
static void *memory(size_t size) {
  void *made = calloc(1, size != 0 ? size : 1);
  if (made == NULL) {
    fprintf(stderr, "application: no memory\n");
    exit(1);
  }
  return made;
}

/* ---- What every section uses. */

static cl_program program_of(const Place *place, const char *source) {
  cl_int code = -1000;
  cl_program program = clCreateProgramWithSource(place->context, 1, &source, NULL, &code);
  if (code != CL_SUCCESS) {
    say("clCreateProgramWithSource: %d", code);
  }
  return program;
}

static cl_int build(cl_program program, const char *options) {
  return clBuildProgram(program, 1, &device, options, NULL, NULL);
}

static cl_program built(const Place *place, const char *source, const char *options) {
  cl_program program = program_of(place, source);
  const cl_int code = build(program, options);
  if (code != CL_SUCCESS) {
    say("clBuildProgram: %d", code);
  }
  return program;
}

static cl_kernel kernel_of(cl_program program, const char *name) {
  cl_int code = -1000;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  if (code != CL_SUCCESS) {
    say("clCreateKernel %s: %d", name, code);
  }
  return kernel;
}

static cl_int run_with(const Place *place, cl_kernel kernel, cl_mem in, cl_mem out, cl_int *data) {
  const size_t range = ITEMS;
  const cl_uint references = references_of(kernel);
  cl_int code = clSetKernelArg(kernel, 0, sizeof(in), &in);
  if (code == CL_SUCCESS) {
    code = clSetKernelArg(kernel, 1, sizeof(out), &out);
  }
  if (code == CL_SUCCESS) {
    code = clEnqueueNDRangeKernel(place->queue, kernel, 1, NULL, &range, NULL, 0, NULL, NULL);
  }
  if (code == CL_SUCCESS) {
    code = clEnqueueReadBuffer(place->queue, out, CL_TRUE, 0, ITEMS * sizeof(cl_int), data, 0, NULL,
                               NULL);
  }
  wait_for_commands(kernel, references);
  return code;
}

/* The checksum of what the kernel makes of 64 numbers, or the error code. Threads call it
 * together, each with a queue of its own. */
static long result_of(const Place *place, cl_kernel kernel) {
  cl_int data[ITEMS];
  cl_mem in, out;
  cl_int code = CL_SUCCESS;
  int i;
  for (i = 0; i < ITEMS; ++i) {
    data[i] = i * i % 31 + i;
  }
  in = clCreateBuffer(place->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(data), data,
                      &code);
  if (code != CL_SUCCESS) {
    return code;
  }
  memset(data, 0, sizeof(data));
  out = clCreateBuffer(place->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(data), data,
                       &code);
  if (code == CL_SUCCESS) {
    code = run_with(place, kernel, in, out, data);
    clReleaseMemObject(out);
  }
  clReleaseMemObject(in);
  return code == CL_SUCCESS ? (long)(checksum(data, sizeof(data)) & 0x7fffffff) : code;
}

static long result_of_program(const Place *place, cl_program program, const char *name) {
  cl_int code = CL_SUCCESS;
  const cl_int addend = 5;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  long result = code;
  if (code == CL_SUCCESS) {
    if (strcmp(name, "add") == 0) {
      clSetKernelArg(kernel, 2, sizeof(addend), &addend);
    }
    result = result_of(place, kernel);
    clReleaseKernel(kernel);
  }
  return result;
}

static Place place_made(void) {
  Place place = {NULL, NULL};
  cl_int code = CL_SUCCESS;
  place.context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  if (code == CL_SUCCESS) {
    place.queue = clCreateCommandQueue(place.context, device, 0, &code);
  }
  if (code != CL_SUCCESS) {
    fprintf(stderr, "application: no context or no queue: %d\n", code);
    exit(1);
  }
  return place;
}

static void release_place(Place *place) {
  clReleaseCommandQueue(place->queue);
  clReleaseContext(place->context);
}

/* ---- Everything that can be asked of a program. */

typedef struct {
  const char *name;
  cl_uint parameter;
} Question;

static const Question program_questions[] = {
    {"REFERENCE_COUNT", CL_PROGRAM_REFERENCE_COUNT},
    {"CONTEXT", CL_PROGRAM_CONTEXT},
    {"NUM_DEVICES", CL_PROGRAM_NUM_DEVICES},
    {"DEVICES", CL_PROGRAM_DEVICES},
    {"SOURCE", CL_PROGRAM_SOURCE},
    {"BINARY_SIZES", CL_PROGRAM_BINARY_SIZES},
    {"BINARIES", CL_PROGRAM_BINARIES},
    {"NUM_KERNELS", CL_PROGRAM_NUM_KERNELS},
    {"KERNEL_NAMES", CL_PROGRAM_KERNEL_NAMES},
    {"IL", CL_PROGRAM_IL},
    {"SCOPE_GLOBAL_CTORS_PRESENT", CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT},
    {"SCOPE_GLOBAL_DTORS_PRESENT", CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT},
    {"nothing", 0x7777},
};

static const Question build_questions[] = {
    {"STATUS", CL_PROGRAM_BUILD_STATUS},
    {"OPTIONS", CL_PROGRAM_BUILD_OPTIONS},
    {"LOG", CL_PROGRAM_BUILD_LOG},
    {"BINARY_TYPE", CL_PROGRAM_BINARY_TYPE},
    {"GLOBAL_VARIABLE_TOTAL_SIZE", CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE},
    {"nothing", 0x7777},
};

static void say_binary(const char *when, cl_program program, size_t size) {
  unsigned char *bytes = memory(size);
  const cl_int code = clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, NULL);
  size_t i = 0;
  while (i < size && bytes[i] == 0) {
    ++i;
  }
  say("%s: BINARIES %d %s", when, code, some(i < size));
  free(bytes);
}

static void say_handles(const char *when, cl_program program, cl_context context) {
  cl_context asked = NULL;
  cl_device_id asked_device = NULL;
  cl_uint references = 0, devices = 0;
  cl_int code = clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(asked), &asked, NULL);
  say("%s: CONTEXT %d %s", when, code, same(asked == context));
  code = clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(devices), &devices, NULL);
  say("%s: NUM_DEVICES %d %u", when, code, devices);
  code = clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(asked_device), &asked_device, NULL);
  say("%s: DEVICES %d %s", when, code, same(asked_device == device));
  code =
      clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(references), &references, NULL);
  say("%s: REFERENCE_COUNT %d %u", when, code, references);
}

/* The text behind a question, to be freed. */
static char *text_of(cl_program program, cl_uint question, cl_int *code, size_t *size) {
  char *text;
  *size = 0;
  *code = clGetProgramInfo(program, question, 0, NULL, size);
  text = memory(*size + 1);
  if (*code == CL_SUCCESS && *size != 0) {
    *code = clGetProgramInfo(program, question, *size, text, size);
  }
  return text;
}

static void say_contents(const char *when, cl_program program) {
  size_t kernels = 0, size = 0, binary = 0;
  cl_int code;
  char *text = text_of(program, CL_PROGRAM_SOURCE, &code, &size);
  say("%s: SOURCE %d %lu bytes, checksum %u", when, code, (unsigned long)size,
      checksum(text, size));
  free(text);
  code = clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL);
  say("%s: NUM_KERNELS %d %lu", when, code, (unsigned long)kernels);
  text = text_of(program, CL_PROGRAM_KERNEL_NAMES, &code, &size);
  say("%s: KERNEL_NAMES %d %lu bytes, %s", when, code, (unsigned long)size, text);
  free(text);
  code = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(binary), &binary, NULL);
  say("%s: BINARY_SIZES %d %s", when, code, some(binary != 0));
  if (binary != 0) { /* rusticl 22.3 aborts when asked for one that is none */
    say_binary(when, program, binary);
  }
}

static void say_build(const char *when, cl_program program) {
  cl_build_status status = 77;
  cl_program_binary_type type = 77;
  char options[256] = "";
  size_t size = 0;
  cl_int code = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof(status),
                                      &status, NULL);
  say("%s: STATUS %d %d", when, code, status);
  code = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof(options), options,
                               &size);
  say("%s: OPTIONS %d %lu bytes, %s", when, code, (unsigned long)size, options);
  size = 0;
  code = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  say("%s: LOG %d %s", when, code, none_one_more(size));
  code = clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof(type), &type, NULL);
  say("%s: BINARY_TYPE %d %u", when, code, type);
  code = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
                               sizeof(size), &size, NULL);
  say("%s: GLOBAL_VARIABLE_TOTAL_SIZE %d", when, code);
}

static void say_program(const char *when, cl_program program) {
  say_handles(when, program, here.context);
  say_contents(when, program);
  say_build(when, program);
}

/* Every question with a buffer of one byte too few, and with none. */
static void say_short_buffers(cl_program program) {
  size_t i;
  for (i = 0; i < LENGTH(program_questions); ++i) {
    const Question asked = program_questions[i];
    size_t size = 0;
    const cl_int code = clGetProgramInfo(program, asked.parameter, 0, NULL, &size);
    void *buffer = memory(size);
    say("%s alone: %d, %lu bytes", asked.name, code, (unsigned long)size);
    say("%s into nothing: %d", asked.name,
        clGetProgramInfo(program, asked.parameter, 0, NULL, NULL));
    if (code == CL_SUCCESS && size != 0) {
      say("%s into too little: %d", asked.name,
          clGetProgramInfo(program, asked.parameter, size - 1, buffer, NULL));
    }
    free(buffer);
  }
}

static void say_short_build_buffers(cl_program program) {
  size_t i;
  for (i = 0; i < LENGTH(build_questions); ++i) {
    const Question asked = build_questions[i];
    size_t size = 0;
    const cl_int code = clGetProgramBuildInfo(program, device, asked.parameter, 0, NULL, &size);
    void *buffer = memory(size);
    say("%s alone: %d", asked.name, code);
    say("%s into nothing: %d", asked.name,
        clGetProgramBuildInfo(program, device, asked.parameter, 0, NULL, NULL));
    if (code == CL_SUCCESS && size != 0) {
      say("%s into too little: %d", asked.name,
          clGetProgramBuildInfo(program, device, asked.parameter, size - 1, buffer, NULL));
    }
    free(buffer);
  }
  say("LOG of no device: %d",
      clGetProgramBuildInfo(program, NULL, CL_PROGRAM_BUILD_STATUS, 0, NULL, NULL));
}

/* ---- Sections. */

static void say_text_of_platform(const char *name, cl_platform_info question) {
  char text[4096] = "";
  const cl_int code = clGetPlatformInfo(platform, question, sizeof(text), text, NULL);
  say("%s: %d %s", name, code, text);
}

static void run_platform(void) {
  char text[4096] = "";
  cl_uint count = 0;
  cl_int code = clGetPlatformIDs(0, NULL, &count);
  say("platforms: %d %u", code, count);
  say_text_of_platform("name", CL_PLATFORM_NAME);
  say_text_of_platform("version", CL_PLATFORM_VERSION);
  say_text_of_platform("profile", CL_PLATFORM_PROFILE);
  say_text_of_platform("extensions", CL_PLATFORM_EXTENSIONS);
  code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
  say("devices: %d %u", code, count);
  code = clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(text), text, NULL);
  say("device: %d %s", code, text);
  say("function clNoSuchFunction: %s",
      some(clGetExtensionFunctionAddressForPlatform(platform, "clNoSuchFunction") != NULL));
}

static void say_before_build(cl_program program) {
  cl_int code = CL_SUCCESS;
  cl_uint count = 7;
  say_program("before", program);
  clCreateKernel(program, "scale", &code);
  say("before: clCreateKernel %d", code);
  code = clCreateKernelsInProgram(program, 0, NULL, &count);
  say("before: clCreateKernelsInProgram %d %u", code, count);
}

static void say_retained(cl_program program) {
  cl_uint count = 0;
  say("clRetainProgram: %d", clRetainProgram(program));
  clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count, NULL);
  say("retained: %u", count);
  say("clReleaseProgram: %d", clReleaseProgram(program));
  clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count, NULL);
  say("released once: %u", count);
}

/* The source in pieces, of which one has no end of its own. */
static void say_pieces(void) {
  const char *pieces[3] = {"#define FACTOR 7\n", "#define FACTOR_2 8\nand what is not taken",
                           two_kernels};
  const size_t lengths[3] = {0, 19, sizeof(two_kernels) - 1};
  cl_int code = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(here.context, 3, pieces, lengths, &code);
  say("pieces: clCreateProgramWithSource %d", code);
  say("pieces: clBuildProgram %d", build(program, NULL));
  say_program("pieces", program);
  say("pieces: result %ld", result_of_program(&here, program, "add"));
  clReleaseProgram(program);
}

static void run_build(void) {
  cl_program program = program_of(&here, two_kernels);
  size_t size = 0;
  cl_int code;
  char *source = text_of(program, CL_PROGRAM_SOURCE, &code, &size);
  say("source: %s", same(strcmp(source, two_kernels) == 0));
  free(source);
  say_before_build(program);
  say("clBuildProgram: %d", build(program, "-D FACTOR=3"));
  say_program("after", program);
  source = text_of(program, CL_PROGRAM_SOURCE, &code, &size);
  say("source: %s", same(strcmp(source, two_kernels) == 0));
  free(source);
  say_short_buffers(program);
  say_short_build_buffers(program);
  say_retained(program);
  say("clUnloadPlatformCompiler: %d", clUnloadPlatformCompiler(platform));
  say("clReleaseProgram: %d", clReleaseProgram(program));
  say_pieces();
  program = program_of(&here, two_kernels);
  say("of all devices: %d", clBuildProgram(program, 0, NULL, "-DFACTOR=4", NULL, NULL));
  say_program("of all devices", program);
  say("of all devices: result %ld", result_of_program(&here, program, "scale"));
  clReleaseProgram(program);
  program = program_of(&here, two_kernels);
  say("with blanks: %d", build(program, "  -D  FACTOR=4 -cl-denorms-are-zero "));
  say_program("with blanks", program);
  clReleaseProgram(program);
  program = program_of(&here, warning_source);
  say("with a warning: %d", build(program, ""));
  say_program("with a warning", program);
  clReleaseProgram(program);
}

static void say_argument(const char *when, cl_kernel kernel, cl_uint index) {
  char name[64] = "", type[64] = "";
  cl_kernel_arg_address_qualifier address = 77;
  cl_kernel_arg_access_qualifier access = 77;
  cl_kernel_arg_type_qualifier qualifier = 77;
  cl_int code = clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_NAME, sizeof(name), name, NULL);
  say("%s: argument %u NAME %d %s", when, index, code, name);
  code = clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, sizeof(type), type, NULL);
  say("%s: argument %u TYPE_NAME %d %s", when, index, code, type);
  code = clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(address),
                            &address, NULL);
  say("%s: argument %u ADDRESS_QUALIFIER %d %x", when, index, code, address);
  code = clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(access), &access,
                            NULL);
  say("%s: argument %u ACCESS_QUALIFIER %d %x", when, index, code, access);
  code = clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(qualifier),
                            &qualifier, NULL);
  say("%s: argument %u TYPE_QUALIFIER %d %lx", when, index, code, (unsigned long)qualifier);
  say("%s: argument %u nothing %d", when, index,
      clGetKernelArgInfo(kernel, index, 0x7777, sizeof(name), name, NULL));
}

static void say_kernel(const char *when, cl_kernel kernel, cl_program program) {
  char name[64] = "", attributes[128] = "";
  cl_uint arguments = 0, references = 0;
  cl_context context = NULL;
  cl_program asked = NULL;
  size_t size = 0;
  cl_int code = clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, &size);
  say("%s: FUNCTION_NAME %d %lu bytes, %s", when, code, (unsigned long)size, name);
  code = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(arguments), &arguments, NULL);
  say("%s: NUM_ARGS %d %u", when, code, arguments);
  code = clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof(references), &references, NULL);
  say("%s: REFERENCE_COUNT %d %u", when, code, references);
  code = clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof(context), &context, NULL);
  say("%s: CONTEXT %d %s", when, code, same(context == here.context));
  code = clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(asked), &asked, &size);
  say("%s: PROGRAM %d %lu bytes, %s", when, code, (unsigned long)size, same(asked == program));
  code = clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(asked) - 1, &asked, NULL);
  say("%s: PROGRAM into too little %d", when, code);
  code = clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, 0, NULL, NULL);
  say("%s: PROGRAM into nothing %d", when, code);
  code = clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof(attributes), attributes, NULL);
  say("%s: ATTRIBUTES %d %s", when, code, attributes);
}

static void say_work_group(const char *when, cl_kernel kernel) {
  size_t size = 0, multiple = 0, required[3] = {7, 7, 7};
  cl_ulong local = 77, private_size = 77;
  cl_int code = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(size),
                                         &size, NULL);
  say("%s: WORK_GROUP_SIZE %d %s %lu", when, code, some(size != 0), (unsigned long)size);
  code =
      clGetKernelWorkGroupInfo(kernel, NULL, CL_KERNEL_WORK_GROUP_SIZE, sizeof(size), &size, NULL);
  say("%s: WORK_GROUP_SIZE of no device %d", when, code);
  code = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                  sizeof(required), required, NULL);
  say("%s: COMPILE_WORK_GROUP_SIZE %d %lu %lu %lu", when, code, (unsigned long)required[0],
      (unsigned long)required[1], (unsigned long)required[2]);
  code = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                  sizeof(multiple), &multiple, NULL);
  say("%s: PREFERRED_WORK_GROUP_SIZE_MULTIPLE %d %lu", when, code, (unsigned long)multiple);
  code = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(local), &local,
                                  NULL);
  say("%s: LOCAL_MEM_SIZE %d %lu", when, code, (unsigned long)local);
  code = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof(private_size),
                                  &private_size, NULL);
  say("%s: PRIVATE_MEM_SIZE %d %lu", when, code, (unsigned long)private_size);
}

static void say_arguments(void) {
  cl_program with = built(&here, two_kernels, "-cl-kernel-arg-info");
  cl_program without = built(&here, two_kernels, NULL);
  cl_kernel told = kernel_of(with, "add");
  cl_kernel plain = kernel_of(without, "add");
  cl_uint i;
  for (i = 0; i < 4; ++i) { /* the last one does not exist */
    say_argument("with names", told, i);
    say_argument("without names", plain, i);
  }
  clReleaseKernel(told);
  clReleaseKernel(plain);
  clReleaseProgram(with);
  clReleaseProgram(without);
}

static void say_all_kernels(cl_program program) {
  cl_kernel kernels[3] = {NULL, NULL, NULL};
  cl_uint count = 0, i;
  cl_int code = clCreateKernelsInProgram(program, 0, NULL, &count);
  say("all: count %d %u", code, count);
  say("all: into too few %d", clCreateKernelsInProgram(program, 1, kernels, NULL));
  code = clCreateKernelsInProgram(program, 3, kernels, &count);
  say("all: made %d %u", code, count);
  say_handles("all", program, here.context);
  for (i = 0; i < count && i < LENGTH(kernels) && kernels[i] != NULL; ++i) {
    say_kernel("all", kernels[i], program);
    say("all: clReleaseKernel %d", clReleaseKernel(kernels[i]));
  }
}

static void say_refused_kernels(cl_program program, cl_kernel kernel) {
  const size_t range = ITEMS;
  cl_int code = CL_SUCCESS;
  cl_kernel none = clCreateKernel(program, "no_such_kernel", &code);
  say("refused: unknown name %d %s", code, some(none != NULL));
  none = clCreateKernel(program, "no_such_kernel", NULL);
  say("refused: unknown name without a code %s", some(none != NULL));
  none = clCreateKernel(program, "", &code);
  say("refused: empty name %d %s", code, some(none != NULL));
  none = clCreateKernel(program, NULL, &code);
  say("refused: no name %d %s", code, some(none != NULL));
  none = clCreateKernel(NULL, "scale", &code);
  say("refused: no program %d %s", code, some(none != NULL));
  say("refused: all of no program %d", clCreateKernelsInProgram(NULL, 0, NULL, NULL));
  say("refused: info of no kernel %d",
      clGetKernelInfo(NULL, CL_KERNEL_PROGRAM, sizeof(none), &none, NULL));
  say("refused: unknown info %d", clGetKernelInfo(kernel, 0x7777, 0, NULL, NULL));
  say("refused: retain no kernel %d", clRetainKernel(NULL));
  say("refused: release no kernel %d", clReleaseKernel(NULL));
  say("refused: argument of no kernel %d", clSetKernelArg(NULL, 0, sizeof(range), &range));
  say("refused: argument 9 %d", clSetKernelArg(kernel, 9, sizeof(range), &range));
  say("refused: argument of one byte %d", clSetKernelArg(kernel, 0, 1, &range));
  say("refused: run without arguments %d",
      clEnqueueNDRangeKernel(here.queue, kernel, 1, NULL, &range, NULL, 0, NULL, NULL));
}

static void say_clone(cl_program program, cl_kernel kernel) {
  const cl_int three = 3, four = 4;
  cl_int code = CL_SUCCESS;
  cl_kernel clone;
  if (version < 21) {
    say("clone: this platform has none");
    return;
  }
  clSetKernelArg(kernel, 2, sizeof(three), &three);
  clone = clCloneKernel(kernel, &code);
  say("clone: clCloneKernel %d %s", code, some(clone != NULL));
  if (clone == NULL) {
    return;
  }
  say_kernel("clone", clone, program);
  say("clone: result %ld", result_of(&here, clone));
  clSetKernelArg(clone, 2, sizeof(four), &four);
  say("clone: result of the first %ld", result_of(&here, kernel));
  say("clone: result of its own %ld", result_of(&here, clone));
  say("clone: clReleaseKernel %d", clReleaseKernel(clone));
}

/* A kernel keeps its program, and an application may get it back from there. */
static void say_program_of_kernel(void) {
  cl_program program = built(&here, two_kernels, "-D FACTOR=6");
  const cl_program handle = program;
  cl_kernel kernel = kernel_of(program, "scale");
  cl_uint count = 0;
  cl_int code;
  say_handles("kept", program, here.context);
  say("kept: clReleaseProgram %d", clReleaseProgram(program));
  program = NULL;
  code = clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(program), &program, NULL);
  say("kept: PROGRAM %d %s", code, same(program == handle));
  code = clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count, NULL);
  say("kept: REFERENCE_COUNT %d %u", code, count);
  say("kept: result %ld", result_of(&here, kernel));
  say("kept: clRetainProgram %d", clRetainProgram(program));
  say_program("kept", program);
  say("kept: clReleaseKernel %d", clReleaseKernel(kernel));
  say_program("kept without the kernel", program);
  say("kept: result of another kernel %ld", result_of_program(&here, program, "add"));
  say("kept: clReleaseProgram %d", clReleaseProgram(program));
}

static void run_kernels(void) {
  cl_program program = built(&here, two_kernels, "-D FACTOR=3");
  cl_kernel kernel = kernel_of(program, "add");
  say_kernel("add", kernel, program);
  say_work_group("add", kernel);
  say("clRetainKernel: %d", clRetainKernel(kernel));
  say_kernel("retained", kernel, program);
  say("clReleaseKernel: %d", clReleaseKernel(kernel));
  say_handles("program", program, here.context);
  say_refused_kernels(program, kernel);
  say_all_kernels(program);
  say_clone(program, kernel);
  say("clReleaseKernel: %d", clReleaseKernel(kernel));
  say_handles("program", program, here.context);
  say("clReleaseProgram: %d", clReleaseProgram(program));
  say_arguments();
  say_program_of_kernel();
}

/* clEnqueueTask is deprecated, but there. */
static void say_task(cl_kernel kernel) {
  cl_event event = NULL;
  cl_command_type type = 0;
  cl_int code = clEnqueueTask(here.queue, kernel, 0, NULL, &event);
  say("clEnqueueTask: %d", code);
  if (code == CL_SUCCESS) {
    say("clWaitForEvents: %d", clWaitForEvents(1, &event));
    code = clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL);
    say("CL_EVENT_COMMAND_TYPE: %d %x", code, type);
    clReleaseEvent(event);
  }
}

static void run_run(void) {
  cl_program program = built(&here, two_kernels, "-D FACTOR=3");
  cl_kernel scale = kernel_of(program, "scale");
  cl_kernel add = kernel_of(program, "add");
  const cl_int addend = 11;
  cl_mem buffer = clCreateBuffer(here.context, CL_MEM_READ_WRITE, 64, NULL, NULL);
  say("scale: %ld", result_of(&here, scale));
  say("add: clSetKernelArg %d", clSetKernelArg(add, 2, sizeof(addend), &addend));
  say("add: %ld", result_of(&here, add));
  say("scale again: %ld", result_of(&here, scale));
  clSetKernelArg(scale, 0, sizeof(buffer), &buffer);
  clSetKernelArg(scale, 1, sizeof(buffer), &buffer);
  say_task(scale);
  clReleaseMemObject(buffer);
  clReleaseKernel(scale);
  clReleaseKernel(add);
  clReleaseProgram(program);
  program = built(&here, two_kernels, "");
  say("without options: %ld", result_of_program(&here, program, "scale"));
  clReleaseProgram(program);
}

/* What a callback saw. */
typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  cl_program expected;
  int calls;
  int right;
  cl_int code;
  cl_build_status status;
} Notice;

static void CL_CALLBACK note(cl_program program, void *user_data) {
  Notice *notice = user_data;
  cl_build_status status = 77;
  const cl_int code = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS,
                                            sizeof(status), &status, NULL);
  pthread_mutex_lock(&notice->mutex);
  ++notice->calls;
  notice->right = program == notice->expected;
  notice->code = code;
  notice->status = status;
  pthread_cond_signal(&notice->changed);
  pthread_mutex_unlock(&notice->mutex);
}

/* Waits until a callback came, or for 10 s. */
static void wait_for(Notice *notice) {
  struct timespec end;
  int code = 0;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += WAIT_SECONDS;
  pthread_mutex_lock(&notice->mutex);
  while (notice->calls == 0 && code == 0) {
    code = pthread_cond_timedwait(&notice->changed, &notice->mutex, &end);
  }
  pthread_mutex_unlock(&notice->mutex);
}

static void say_callback(const char *when, const char *source, const char *options,
                         Notice *notice) {
  cl_int code;
  pthread_mutex_init(&notice->mutex, NULL);
  pthread_cond_init(&notice->changed, NULL);
  notice->expected = program_of(&here, source);
  code = clBuildProgram(notice->expected, 1, &device, options, note, notice);
  say("%s: clBuildProgram %d", when, code);
  wait_for(notice);
  say_program(when, notice->expected);
  say("%s: result %ld", when, result_of_program(&here, notice->expected, "scale"));
  clReleaseProgram(notice->expected);
  pthread_mutex_lock(&notice->mutex);
  say("%s: called %d times, program %s", when, notice->calls, same(notice->right));
  say("%s: STATUS inside %d %d", when, notice->code, notice->status);
  pthread_mutex_unlock(&notice->mutex);
}

static void run_callback(void) {
  static Notice notices[2]; /* static: a callback may come after the wait */
  say_callback("right", two_kernels, "-D FACTOR=9", &notices[0]);
  say_callback("wrong", wrong_source, "", &notices[1]);
}

/* A context of one part of the device, and a program that is built for it by name. */
static void run_part(void) {
  const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_device_id part[64];
  cl_uint count = 0, i;
  Place place = {NULL, NULL};
  cl_program program;
  cl_int code = clCreateSubDevices(device, equally, LENGTH(part), part, &count);
  say("clCreateSubDevices: %d", code);
  if (code != CL_SUCCESS || count == 0) {
    return;
  }
  place.context = clCreateContext(NULL, 1, part, NULL, NULL, &code);
  place.queue = clCreateCommandQueue(place.context, part[0], 0, &code);
  program = program_of(&place, two_kernels);
  say("clBuildProgram: %d", clBuildProgram(program, 1, part, "-D FACTOR=9", NULL, NULL));
  for (i = 0; i < 2; ++i) {
    cl_build_status status = 77;
    char options[64] = "";
    code = clGetProgramBuildInfo(program, i == 0 ? part[0] : device, CL_PROGRAM_BUILD_STATUS,
                                 sizeof(status), &status, NULL);
    say("%s: STATUS %d %d", i == 0 ? "part" : "whole", code, status);
    code = clGetProgramBuildInfo(program, i == 0 ? part[0] : device, CL_PROGRAM_BUILD_OPTIONS,
                                 sizeof(options), options, NULL);
    say("%s: OPTIONS %d %s", i == 0 ? "part" : "whole", code, options);
  }
  say_contents("part", program);
  say("result: %ld", result_of_program(&place, program, "scale"));
  clReleaseProgram(program);
  release_place(&place);
  for (i = 0; i < count && i < LENGTH(part); ++i) {
    clReleaseDevice(part[i]);
  }
}

/* A call that is refused leaves the build before as it was. PoCL 3.1 reads a null device. */
static void say_refused_rebuild(void) {
  cl_program program = built(&here, two_kernels, "-D FACTOR=5");
  int datum = 0;
  say("refused: no devices with a list %d", clBuildProgram(program, 0, &device, "", NULL, NULL));
  say("refused: data without a callback %d", clBuildProgram(program, 1, &device, "", NULL, &datum));
  say_program("refused", program);
  say("refused: result %ld", result_of_program(&here, program, "scale"));
  clReleaseProgram(program);
}

static void CL_CALLBACK count_call(cl_program program, void *user_data) {
  (void)program;
  ++*(volatile int *)user_data;
}

/* What a driver finds first: a fault of the call, or the kernel. */
static void say_malformed_with_kernel(cl_program program) {
  const char *name = header_name;
  cl_program header = program_of(&here, "");
  volatile int calls = 0;
  int *data = (int *)&calls;
  say("kernel alive: devices without a count %d",
      clBuildProgram(program, 0, &device, "", NULL, NULL));
  say("kernel alive: a count without devices %d", clBuildProgram(program, 1, NULL, "", NULL, NULL));
  say("kernel alive: data without a callback %d",
      clBuildProgram(program, 1, &device, "", NULL, data));
  say("kernel alive: a callback %d", clBuildProgram(program, 1, NULL, "", count_call, data));
  say("kernel alive: called %d times", calls);
  say("kernel alive: clCompileProgram %d",
      clCompileProgram(program, 1, &device, "", 1, &header, &name, NULL, NULL));
  say("kernel alive: clCompileProgram without devices %d",
      clCompileProgram(program, 1, NULL, "", 0, NULL, NULL, NULL, NULL));
  say("kernel alive: headers without a list %d",
      clCompileProgram(program, 1, &device, "", 1, NULL, NULL, NULL, NULL));
  say("kernel alive: headers without names %d",
      clCompileProgram(program, 1, &device, "", 1, &header, NULL, NULL, NULL));
  say("kernel alive: headers without a count %d",
      clCompileProgram(program, 1, &device, "", 0, &header, &name, NULL, NULL));
  clReleaseProgram(header);
}

/* Options that name a folder of files, then options that do not, and the reverse: a kernel of the
 * build before forbids either. */
static void say_rebuild_with_folder(void) {
  static const char *const options[] = {"-I include -D FACTOR=2", "-D FACTOR=5"};
  int i;
  for (i = 0; i < 2; ++i) {
    cl_program program = built(&here, two_kernels, options[i]);
    cl_kernel kernel = kernel_of(program, "scale");
    say("folder %d: clBuildProgram %d", i, build(program, options[1 - i]));
    say_program("folder", program);
    say("folder %d: clReleaseKernel %d", i, clReleaseKernel(kernel));
    say("folder %d: clBuildProgram %d", i, build(program, options[1 - i]));
    say("folder %d: result %ld", i, result_of_program(&here, program, "scale"));
    clReleaseProgram(program);
  }
}

static void run_rebuild(void) {
  cl_program program = built(&here, two_kernels, "-D FACTOR=2");
  cl_kernel kernel;
  say("first: result %ld", result_of_program(&here, program, "scale"));
  say("again: clBuildProgram %d", build(program, "-D FACTOR=5"));
  say_program("again", program);
  say("again: result %ld", result_of_program(&here, program, "scale"));
  kernel = kernel_of(program, "scale");
  say("kernel alive: clBuildProgram %d", build(program, "-D FACTOR=6"));
  say_malformed_with_kernel(program);
  say_program("kernel alive", program);
  say("kernel alive: result %ld", result_of(&here, kernel));
  say("kernel alive: result of another %ld", result_of_program(&here, program, "scale"));
  clReleaseKernel(kernel);
  say("kernel gone: clBuildProgram %d", build(program, NULL));
  say_program("kernel gone", program);
  say("kernel gone: result %ld", result_of_program(&here, program, "scale"));
  say("option unknown: clBuildProgram %d", build(program, "-no-such-option"));
  say_program("option unknown", program);
  say("option unknown: result %ld", result_of_program(&here, program, "scale"));
  say("right once more: clBuildProgram %d", build(program, "-D FACTOR=2"));
  say("right once more: result %ld", result_of_program(&here, program, "scale"));
  clReleaseProgram(program);
  say_refused_rebuild();
  say_rebuild_with_folder();
}

static void say_refused_builds(cl_program program) {
  int datum = 0;
  say("no devices with a list: %d", clBuildProgram(program, 0, &device, "", NULL, NULL));
  say("a device without a list: %d", clBuildProgram(program, 1, NULL, "", NULL, NULL));
  say("no program: %d", clBuildProgram(NULL, 1, &device, "", NULL, NULL));
  say("data without a callback: %d", clBuildProgram(program, 1, &device, "", NULL, &datum));
  say_program("refused", program);
  say("retain no program: %d", clRetainProgram(NULL));
  say("release no program: %d", clReleaseProgram(NULL));
  say("info of no program: %d", clGetProgramInfo(NULL, CL_PROGRAM_CONTEXT, 0, NULL, NULL));
  say("build info of no program: %d",
      clGetProgramBuildInfo(NULL, device, CL_PROGRAM_BUILD_STATUS, 0, NULL, NULL));
}

/* No list of strings at all is left out: PoCL 3.1 reads it. */
static void say_refused_sources(void) {
  const char *none = NULL;
  const char *source = two_kernels;
  cl_int code = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(here.context, 0, &source, NULL, &code);
  say("no strings: %d %s", code, some(program != NULL));
  program = clCreateProgramWithSource(here.context, 1, &none, NULL, &code);
  say("a string that is none: %d %s", code, some(program != NULL));
  program = clCreateProgramWithSource(NULL, 1, &source, NULL, &code);
  say("no context: %d %s", code, some(program != NULL));
}

static void run_wrong(void) {
  cl_program program = program_of(&here, wrong_source);
  say("clBuildProgram: %d", build(program, ""));
  say_program("source", program);
  say("result: %ld", result_of_program(&here, program, "scale"));
  say("once more: %d", build(program, "-D FACTOR=3"));
  say_program("once more", program);
  clReleaseProgram(program);
  program = program_of(&here, two_kernels);
  say("unknown option: %d", build(program, "-no-such-option"));
  say_program("unknown option", program);
  say("result: %ld", result_of_program(&here, program, "scale"));
  say("option put right: %d", build(program, "-D FACTOR=3"));
  say("result: %ld", result_of_program(&here, program, "scale"));
  clReleaseProgram(program);
  program = program_of(&here, two_kernels);
  say_refused_builds(program);
  clReleaseProgram(program);
  say_refused_sources();
}

/* Kernels of one name, of one program and of two of the same source. */
static void say_independent(cl_program first, cl_program second) {
  cl_program from[3];
  cl_kernel kernels[3];
  cl_int i;
  from[0] = from[1] = first;
  from[2] = second;
  for (i = 0; i < 3; ++i) {
    kernels[i] = kernel_of(from[i], "add");
    clSetKernelArg(kernels[i], 2, sizeof(i), &i);
  }
  for (i = 0; i < 3; ++i) {
    say_kernel("independent", kernels[i], from[i]);
    say("independent: result %ld", result_of(&here, kernels[i]));
  }
  for (i = 0; i < 3; ++i) {
    clReleaseKernel(kernels[i]);
  }
}

static void say_other_context(cl_program first) {
  Place there = place_made();
  cl_program program = built(&there, two_kernels, "-D FACTOR=3");
  cl_kernel kernel = kernel_of(program, "scale");
  const size_t range = ITEMS;
  say("contexts: programs %s", same(program == first));
  say_handles("contexts", program, there.context);
  say("contexts: result %ld", result_of(&there, kernel));
  say("contexts: result of the first %ld", result_of_program(&here, first, "scale"));
  say("contexts: run in the wrong one %d",
      clEnqueueNDRangeKernel(here.queue, kernel, 1, NULL, &range, NULL, 0, NULL, NULL));
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  release_place(&there);
}

/* Drivers give the handle of a program that is gone to the next one. */
static void say_reuse(void) {
  cl_uint sum = 0;
  cl_program program;
  char options[32];
  int i;
  for (i = 0; i < REUSES; ++i) {
    sprintf(options, "-D FACTOR=%d", i % 3 + 2);
    program = built(&here, two_kernels, options);
    sum = sum * 31 + (cl_uint)result_of_program(&here, program, "scale");
    clReleaseProgram(program);
    program = program_of(&here, two_kernels); /* is not built */
    sum = sum * 31 + (cl_uint)result_of_program(&here, program, "scale");
    if (i == 0) {
      say_program("reuse", program);
    }
    clReleaseProgram(program);
  }
  say("reuse: %u", sum);
}

static void run_twice(void) {
  cl_program first = built(&here, two_kernels, "-D FACTOR=3");
  cl_program second = built(&here, two_kernels, "-D FACTOR=3");
  cl_program third = built(&here, two_kernels, "-D FACTOR=4");
  say("programs: %s", same(first == second));
  say_program("first", first);
  say_program("second", second);
  say_independent(first, second);
  say("third: result %ld", result_of_program(&here, third, "scale"));
  say_other_context(first);
  clReleaseProgram(first);
  say("first is gone: result %ld", result_of_program(&here, second, "scale"));
  clReleaseProgram(second);
  clReleaseProgram(third);
  say_reuse();
}

static void say_link(const char *when, cl_uint count, const cl_program *programs,
                     const char *options) {
  cl_int code = CL_SUCCESS;
  cl_program linked =
      clLinkProgram(here.context, 1, &device, options, count, programs, NULL, NULL, &code);
  say("%s: clLinkProgram %d %s", when, code, some(linked != NULL));
  if (linked != NULL) {
    say_program(when, linked);
    say("%s: result %ld", when, result_of_program(&here, linked, "scale"));
    clReleaseProgram(linked);
  }
}

/* Compiling, linking and building mixed on one program. */
static void say_mixed(void) {
  cl_program program = program_of(&here, two_kernels);
  say_link("link of what is not compiled", 1, &program, "");
  say("mixed: clBuildProgram %d", build(program, "-D FACTOR=8"));
  say_link("link of what is built", 1, &program, "");
  say("mixed: clCompileProgram %d",
      clCompileProgram(program, 1, &device, "-D FACTOR=9", 0, NULL, NULL, NULL, NULL));
  say_program("compiled after a build", program);
  say("compiled after a build: result %ld", result_of_program(&here, program, "scale"));
  say_link("link of what was built", 1, &program, "");
  say("mixed: clBuildProgram %d", build(program, "-D FACTOR=10"));
  say_program("built after a compilation", program);
  say("built after a compilation: result %ld", result_of_program(&here, program, "scale"));
  clReleaseProgram(program);
}

static void run_compile_link(void) {
  cl_program header = program_of(&here, "#define OFFSET 100\n");
  cl_program program = program_of(&here, including_source);
  const char *name = header_name;
  say("without the header: clBuildProgram %d", build(program, ""));
  say("without the header: clCompileProgram %d",
      clCompileProgram(program, 1, &device, "", 0, NULL, NULL, NULL, NULL));
  say("clCompileProgram: %d",
      clCompileProgram(program, 1, &device, "", 1, &header, &name, NULL, NULL));
  say_program("compiled", program);
  say_link("linked", 1, &program, "");
  say_link("library", 1, &program, "-create-library");
  say_link("linked with an unknown option", 1, &program, "-no-such-option");
  say_link("nothing linked", 0, NULL, "");
  say("clReleaseProgram: %d", clReleaseProgram(header));
  say("clReleaseProgram: %d", clReleaseProgram(program));
  say_mixed();
}

/* One program, compiled and linked: asked for all there is in between, and for nothing. */
static void run_link_alone(void) {
  int asked;
  for (asked = 1; asked >= 0; --asked) {
    cl_program program = program_of(&here, two_kernels);
    say("asked %d: clCompileProgram %d", asked,
        clCompileProgram(program, 0, NULL, "-D FACTOR=6", 0, NULL, NULL, NULL, NULL));
    if (asked) {
      say_program("compiled", program);
    }
    say_link(asked ? "linked" : "linked at once", 1, &program, "");
    say("asked %d: clReleaseProgram %d", asked, clReleaseProgram(program));
  }
}

/* Of a library, or of a program beside it. */
static const char function_source[] =
    "#ifndef ADDEND\n"
    "#define ADDEND 20\n"
    "#endif\n"
    "int moved(int number) { return number + ADDEND; }\n";
static const char calling_source[] =
    "int moved(int number);\n"
    "kernel void scale(global const int *in, global int *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = moved(in[i]);\n"
    "}\n";

static cl_program compiled(const char *when, const char *source, const char *options) {
  cl_program program = program_of(&here, source);
  say("%s: clCompileProgram %d", when,
      clCompileProgram(program, 1, &device, options, 0, NULL, NULL, NULL, NULL));
  return program;
}

/* Linked of two in either order, with options, with a library, and of what does not fit. */
static void run_link_several(void) {
  cl_program parts[2], turned[2], others[2], library;
  cl_int code = CL_SUCCESS;
  parts[0] = turned[1] = compiled("calls", calling_source, "");
  parts[1] = turned[0] = compiled("called", function_source, "");
  say_link("two", 2, parts, "");
  say_program("called", parts[1]);
  say_link("two again", 2, parts, "");
  say_link("turned", 2, turned, "");
  say_link("with options", 2, parts, "-cl-fast-relaxed-math");
  say_link("without what it calls", 1, parts, "");
  others[0] = parts[0];
  others[1] = compiled("otherwise", function_source, "-DADDEND=30");
  say_link("otherwise", 2, others, "");
  library =
      clLinkProgram(here.context, 1, &device, "-create-library", 1, &others[1], NULL, NULL, &code);
  say("library: clLinkProgram %d %s", code, some(library != NULL));
  clReleaseProgram(others[1]);
  if (library != NULL) {
    say_program("library", library);
    others[1] = library;
    say_link("with a library", 2, others, "");
    clReleaseProgram(library);
  }
  clReleaseProgram(parts[0]);
  clReleaseProgram(parts[1]);
}

/* Writes the header that the source includes; false where the folder is not writable. */
static int write_header(int offset) {
  FILE *file = fopen(header_name, "w");
  if (file == NULL) {
    return 0;
  }
  fprintf(file, "#define OFFSET %d\n", offset);
  return fclose(file) == 0;
}

/* One source with one text of options is two programs where the file it includes changes. */
static void run_include(void) {
  int i;
  for (i = 0; i < 2; ++i) {
    cl_program program;
    say("header %d: %s", i, some(write_header(i == 0 ? 5 : 7)));
    program = program_of(&here, including_source);
    say("header %d: clBuildProgram %d", i, build(program, "-I ."));
    say_program("built", program);
    say("header %d: result %ld", i, result_of_program(&here, program, "scale"));
    clReleaseProgram(program);
  }
  remove(header_name);
}

static void say_loaded(const unsigned char *bytes, size_t size) {
  cl_int code = CL_SUCCESS, status = 77;
  cl_program program =
      clCreateProgramWithBinary(here.context, 1, &device, &size, &bytes, &status, &code);
  say("clCreateProgramWithBinary: %d %d %s", code, status, some(program != NULL));
  if (program == NULL) {
    return;
  }
  say_program("loaded", program);
  say("result before the build: %ld", result_of_program(&here, program, "scale"));
  say("clBuildProgram: %d", build(program, ""));
  say_program("built", program);
  say("result: %ld", result_of_program(&here, program, "scale"));
  say("result: %ld", result_of_program(&here, program, "add"));
  clReleaseProgram(program);
}

static void run_binary(void) {
  cl_program program = built(&here, two_kernels, "-D FACTOR=3");
  size_t size = 0;
  unsigned char *bytes;
  clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL);
  bytes = memory(size);
  clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, NULL);
  clReleaseProgram(program);
  say_loaded(bytes, size);
  free(bytes);
}

/* Apart from `binary`, since rusticl 22.3 aborts on it. */
static void run_garbage(void) {
  unsigned char bytes[4096];
  memset(bytes, 0x5a, sizeof(bytes));
  say_loaded(bytes, sizeof(bytes));
}

typedef struct {
  pthread_t thread;
  int index;
  char error[128]; /* empty when all is well */
} Worker;

static long expected_of(int factor) {
  cl_int data[ITEMS];
  int i;
  for (i = 0; i < ITEMS; ++i) {
    data[i] = (i * i % 31 + i) * factor;
  }
  return (long)(checksum(data, sizeof(data)) & 0x7fffffff);
}

/* One program from source to result; the step that failed goes to the worker's error. */
static void work_once(Worker *worker, const Place *place, int factor) {
  char text[256];
  const char *source = text;
  cl_int code = CL_SUCCESS;
  cl_program program;
  long result;
  sprintf(text,
          "kernel void scale(global const int *in, global int *out) {\n"
          "  size_t i = get_global_id(0);\n  out[i] = in[i] * %d;\n}\n",
          factor);
  program = clCreateProgramWithSource(place->context, 1, &source, NULL, &code);
  if (code != CL_SUCCESS) {
    sprintf(worker->error, "clCreateProgramWithSource %d", code);
    return;
  }
  code = build(program, "");
  if (code != CL_SUCCESS) {
    sprintf(worker->error, "clBuildProgram %d", code);
  } else if ((result = result_of_program(place, program, "scale")) != expected_of(factor)) {
    sprintf(worker->error, "factor %d gave %ld", factor, result);
  }
  clReleaseProgram(program);
}

static void *work(void *data) {
  Worker *worker = data;
  Place place = {NULL, NULL};
  cl_int code = CL_SUCCESS;
  int i;
  place.context = here.context;
  place.queue = clCreateCommandQueue(place.context, device, 0, &code);
  if (code != CL_SUCCESS) {
    sprintf(worker->error, "clCreateCommandQueue %d", code);
    return NULL;
  }
  for (i = 0; i < ROUNDS && worker->error[0] == '\0'; ++i) {
    work_once(worker, &place, 11 + (worker->index + i) % SOURCES);
  }
  clReleaseCommandQueue(place.queue);
  return NULL;
}

static void run_threads(void) {
  Worker workers[THREADS];
  const char *error = "ok";
  int i;
  memset(workers, 0, sizeof(workers));
  for (i = 0; i < THREADS; ++i) {
    workers[i].index = i;
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
      fprintf(stderr, "application: no thread\n");
      exit(1);
    }
  }
  for (i = THREADS - 1; i >= 0; --i) {
    pthread_join(workers[i].thread, NULL);
    error = workers[i].error[0] != '\0' ? workers[i].error : error;
  }
  say("threads: %s", error);
}

/* Handles that live until the process exits. */
static cl_program last_program;
static cl_kernel last_kernel;

/* Registered before OpenCL is loaded, and so called after whatever OpenCL, or a layer in it,
 * registered: everything must still work. */
static void at_exit(void) {
  cl_int code;
  if (last_program == NULL) {
    return;
  }
  section = "atexit";
  code = clReleaseProgram(last_program);
  code = code != CL_SUCCESS ? code : clReleaseKernel(last_kernel);
  code = code != CL_SUCCESS ? code : clReleaseCommandQueue(here.queue);
  code = code != CL_SUCCESS ? code : clReleaseContext(here.context);
  if (code == CL_SUCCESS) {
    say("atexit: ok");
  } else {
    say("atexit: %d", code);
  }
}

static void run_atexit(void) {
  last_program = built(&here, two_kernels, "-D FACTOR=3");
  last_kernel = kernel_of(last_program, "scale");
  say("result: %ld", result_of(&here, last_kernel));
}

/* ---- Choice of the device and of the sections. */

static const struct {
  const char *name;
  void (*run)(void);
} sections[] = {
    {"platform", run_platform},     {"build", run_build},
    {"kernels", run_kernels},       {"run", run_run},
    {"callback", run_callback},     {"part", run_part},
    {"rebuild", run_rebuild},       {"wrong", run_wrong},
    {"twice", run_twice},           {"compile_link", run_compile_link},
    {"link_alone", run_link_alone}, {"link_several", run_link_several},
    {"include", run_include},       {"binary", run_binary},
    {"garbage", run_garbage},       {"threads", run_threads},
    {"atexit", run_atexit}, /* the last, for its handles live on */
};

/* The first device of the first platform that has one; false where there is none. */
static int find_device(void) {
  cl_platform_id platforms[16];
  cl_uint count = 0, devices = 0, i;
  int major = 0, minor = 0;
  char text[128] = "";
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) {
    return 0;
  }
  for (i = 0; i < count && i < 16; ++i) {
    platform = platforms[i];
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &devices) == CL_SUCCESS &&
        devices != 0) {
      clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(text), text, NULL);
      sscanf(text, "OpenCL %d.%d", &major, &minor);
      version = major * 10 + minor;
      return 1;
    }
  }
  return 0;
}

static cl_uint references_of_context(void) {
  cl_uint count = 0;
  clGetContextInfo(here.context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, NULL);
  return count;
}

/* Whether the context has as many references as before, within 10 s: a driver's own threads may
 * hold one a little longer than what was waited for. */
static int references_are_back(cl_uint before) {
  const time_t end = time(NULL) + WAIT_SECONDS;
  while (references_of_context() != before && time(NULL) < end) {
    sched_yield();
  }
  return references_of_context() == before;
}

static void run_section(size_t i) {
  const cl_uint before = references_of_context();
  section = sections[i].name;
  sections[i].run();
  clFinish(here.queue);
  if (last_program == NULL) {
    /* What an object that is gone left behind would show here. */
    say("references of the context: %s", same(references_are_back(before)));
  }
}

static int index_of(const char *name) {
  size_t i;
  for (i = 0; i < LENGTH(sections); ++i) {
    if (strcmp(sections[i].name, name) == 0) {
      return (int)i;
    }
  }
  return -1;
}

int main(int argc, char **argv) {
  size_t i;
  int word;
  atexit(at_exit);
  setvbuf(stdout, NULL, _IOLBF, 4096); /* what came before a crash is seen */
  for (word = 1; word < argc; ++word) {
    if (index_of(argv[word]) < 0) {
      fprintf(stderr, "application: no section %s\n", argv[word]);
      return 2;
    }
  }
  if (!find_device()) {
    printf("SKIP: there is no OpenCL device\n");
    return 77;
  }
  here = place_made();
  for (word = 1; word < argc; ++word) {
    run_section((size_t)index_of(argv[word]));
  }
  for (i = 0; argc == 1 && i < LENGTH(sections); ++i) {
    run_section(i);
  }
  if (last_program == NULL) {
    release_place(&here);
  }
  return 0;
}
