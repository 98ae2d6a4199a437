/* SPDX-License-Identifier: Apache-2.0 */
/* An application that does what its words say, one after the other, in the current folder:
 *
 *     steps STEP...
 *
 *     sh:COMMAND          the shell runs it, as an editor that changes a file meanwhile
 *     cd:FOLDER           this is the current folder from here on
 *     clearenv            removes all environment variables, as glibc's clearenv() does
 *     unsetenv:NAME       removes one
 *     source:FILE         the file's text is the program from here on, in place of those below
 *     build[:OPTIONS]     builds a program that includes "steps.h", or with NULL for options
 *     compile[:OPTIONS]   compiles a program with a kernel, and one that includes "steps.h"
 *     link, turned        links these two, in this order or the other one
 *     alone:OPTIONS|MORE  compiles a program with OPTIONS, and links it alone with MORE
 *     launch:SIZE         launches the kernel of what was built or linked last, in groups of that
 *                         size, and prints its result, which is VALUE of the header
 *     arguments           prints what is told of its argument
 *     tried[:OPTIONS]     builds, and prints whether the driver does
 *     said                prints the status and the log of the last build
 *     header:NAME         compiles with "steps.h" as a header of this name, and links
 *     value               prints the work-group size that the kernel requires, if there is a
 * program log                 prints what the last build's log says of files called *.h, without
 * folders
 *
 * Exit codes: 0, 1 a call failed, 2 wrong words, 77 no device. */
#include <string.h>
#include <unistd.h>

#include "first_device.h"

enum { ITEMS = 8 };

static const char whole[] =
    "#include \"steps.h\"\n"
    "kernel void k(global int *out) { out[get_global_id(0)] = VALUE; }\n";
static const char caller[] =
    "int value(void);\n"
    "kernel void k(global int *out) { out[get_global_id(0)] = value(); }\n";
static const char called[] =
    "#include \"steps.h\"\n"
    "int value(void) { return VALUE; }\n";

static char file_text[1 << 16];
static const char *own = whole;

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_program parts[2];
static cl_program program;

static void must(const char *step, cl_int code) {
  if (code != CL_SUCCESS) {
    printf("%s: %d\n", step, code);
    exit(1);
  }
}

static cl_program created(const char *source) {
  cl_int code = CL_SUCCESS;
  cl_program made = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  must("clCreateProgramWithSource", code);
  return made;
}

/* In place of another. */
static void take(cl_program made) {
  if (program != NULL) {
    clReleaseProgram(program);
  }
  program = made;
}

static void read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  size_t size;
  if (file == NULL) {
    exit(2);
  }
  size = fread(file_text, 1, sizeof(file_text) - 1, file);
  file_text[size] = 0;
  fclose(file);
}

static void build(const char *options) {
  take(created(own));
  must("clBuildProgram", clBuildProgram(program, 1, &device, options, NULL, NULL));
}

static void try_build(const char *options) {
  cl_int code;
  take(created(own));
  code = clBuildProgram(program, 1, &device, options, NULL, NULL);
  printf("%s\n", code == CL_SUCCESS ? "built" : "refused");
}

static void compile_with(const char *name) {
  cl_program header, object = created(own);
  cl_int code = CL_SUCCESS;
  char *kept = strdup(own);
  read_file("steps.h");
  header = created(file_text);
  strcpy(file_text, kept);
  free(kept);
  code = clCompileProgram(object, 1, &device, "", 1, &header, &name, NULL, NULL);
  printf("%s\n", code == CL_SUCCESS ? "compiled" : "refused");
  take(code == CL_SUCCESS ? clLinkProgram(context, 1, &device, NULL, 1, &object, NULL, NULL, &code)
                          : NULL);
  clReleaseProgram(header);
  clReleaseProgram(object);
}

static void print_value(void) {
  size_t size[3] = {0, 0, 0};
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = program == NULL ? NULL : clCreateKernel(program, "k", &code);
  if (kernel == NULL) {
    printf("no kernel: %d\n", code);
    return;
  }
  must("clGetKernelWorkGroupInfo",
       clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(size),
                                size, NULL));
  printf("value %lu\n", (unsigned long)size[0]);
  clReleaseKernel(kernel);
}

/* Drivers name the application's own text in many ways. */
static void print_log(void) {
  static char log[1 << 16];
  char *line, *rest, *at, *name;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log) - 1, log, NULL);
  for (line = strtok_r(log, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    if ((at = strstr(line, ".h:")) == NULL) {
      continue;
    }
    for (name = at; name > line && name[-1] != '/' && name[-1] != ' '; --name) {
    }
    printf("%s\n", name);
  }
}

static void print_said(void) {
  static char log[1 << 16];
  cl_build_status status = CL_BUILD_NONE;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof(status), &status, NULL);
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
  printf("%d %s\n", status, log);
}

static void compile(const char *options) {
  int i;
  parts[0] = created(caller);
  parts[1] = created(called);
  for (i = 0; i < 2; ++i) {
    must("clCompileProgram",
         clCompileProgram(parts[i], 1, &device, options, 0, NULL, NULL, NULL, NULL));
  }
}

static void link_parts(int first) {
  const cl_program ordered[] = {parts[first], parts[1 - first]};
  cl_int code = CL_SUCCESS;
  take(clLinkProgram(context, 1, &device, NULL, 2, ordered, NULL, NULL, &code));
  must("clLinkProgram", code);
}

static void link_alone(const char *options) {
  const char *bar = strchr(options, '|');
  char *of_compilation = strndup(options, (size_t)(bar - options));
  cl_program part = created(own);
  cl_int code = clCompileProgram(part, 1, &device, of_compilation, 0, NULL, NULL, NULL, NULL);
  must("clCompileProgram", code);
  take(clLinkProgram(context, 1, &device, bar + 1, 1, &part, NULL, NULL, &code));
  must("clLinkProgram", code);
  clReleaseProgram(part);
  free(of_compilation);
}

static cl_kernel kernel_of_program(void) {
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "k", &code);
  must("clCreateKernel", code);
  return kernel;
}

static void launch(const char *size) {
  const size_t items = ITEMS, group = (size_t)atoi(size);
  cl_int result[ITEMS] = {0}, code = CL_SUCCESS;
  cl_mem out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof(result), NULL, &code);
  cl_kernel kernel = kernel_of_program();
  must("clCreateBuffer", code);
  must("clSetKernelArg", clSetKernelArg(kernel, 0, sizeof(out), &out));
  must("clEnqueueNDRangeKernel",
       clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL));
  must("clEnqueueReadBuffer",
       clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(result), result, 0, NULL, NULL));
  printf("result %d\n", result[ITEMS - 1]);
  clReleaseKernel(kernel);
  clReleaseMemObject(out);
}

static void arguments(void) {
  char text[64] = "";
  size_t size = 0;
  cl_kernel kernel = kernel_of_program();
  cl_int code = clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, sizeof(text), text, &size);
  printf("argument: %d %lu bytes, %s\n", code, (unsigned long)size, text);
  code = clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, 1, text, NULL);
  printf("argument with one byte: %d\n", code);
  code = clGetKernelArgInfo(kernel, 9, CL_KERNEL_ARG_NAME, sizeof(text), text, NULL);
  printf("no such argument: %d\n", code);
  clReleaseKernel(kernel);
}

static int begins(const char *step, const char *word) {
  return strncmp(step, word, strlen(word)) == 0;
}

static void take_step(const char *step) {
  const char *colon = strchr(step, ':');
  const char *rest = colon == NULL ? NULL : colon + 1;
  if (begins(step, "sh:")) {
    must(step, system(rest));
  } else if (begins(step, "cd:")) {
    must(step, chdir(rest));
  } else if (begins(step, "clearenv")) {
    must(step, clearenv());
  } else if (begins(step, "unsetenv:")) {
    must(step, unsetenv(rest));
  } else if (begins(step, "source:")) {
    read_file(rest);
    own = file_text;
  } else if (begins(step, "tried")) {
    try_build(rest);
  } else if (begins(step, "said")) {
    print_said();
  } else if (begins(step, "header:")) {
    compile_with(rest);
  } else if (begins(step, "value")) {
    print_value();
  } else if (begins(step, "log")) {
    print_log();
  } else if (begins(step, "build")) {
    build(rest);
  } else if (begins(step, "compile")) {
    compile(rest);
  } else if (begins(step, "link")) {
    link_parts(0);
  } else if (begins(step, "turned")) {
    link_parts(1);
  } else if (begins(step, "alone:")) {
    link_alone(rest);
  } else if (begins(step, "launch:")) {
    launch(rest);
  } else if (begins(step, "arguments")) {
    arguments();
  } else {
    exit(2);
  }
}

int main(int count, char **words) {
  cl_int code = CL_SUCCESS;
  int i;
  device = first_device();
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  must("clCreateContext", code);
  queue = clCreateCommandQueue(context, device, 0, &code);
  must("clCreateCommandQueue", code);
  setvbuf(stdout, NULL, _IOLBF, 4096);
  for (i = 1; i < count; ++i) {
    take_step(words[i]);
  }
  take(NULL);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
