/* SPDX-License-Identifier: Apache-2.0 */
/* An application that looks after its process: what it does is given as words.
 *
 *   build      builds the next program, launches its kernel and prints the result
 *   close      closes all descriptors from 3, as a daemon does
 *   open       opens the next file of its own, own-1.txt and so on, eight more times, and writes 34
 *              bytes
 *   folder     opens the folder "own" until every small number is its
 *   panic      uses one kernel of a program with another one, of which rusticl 22.3 dies
 *   store      launches a kernel that stores to its buffer, and waits for its queue
 *   event, read, other, poll: the same, but waits for the event, by a read, or for another queue,
 * or asks whether the event is complete fault      the same without a buffer, so that the process
 * dies in the launch endless    launches a kernel that would not end on zeros, with more work-items
 * each time children   says whether the process has children, also those that lost their parents
 *   wait       waits half a second
 *
 * Exit codes: 0, 1 a call failed, 77 no device. */
#define _GNU_SOURCE
#include "first_device.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kClosed = 64 };

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;

static void must(const char *call, int is_done) {
  if (!is_done) {
    printf("%s failed\n", call);
    exit(1);
  }
}

/* Builds the source, launches its kernel k on the number 1, and prints the result. */
static void use(const char *source, const char *options, size_t items) {
  cl_int code = CL_SUCCESS, result = 1;
  cl_program program;
  cl_kernel kernel;
  cl_mem out;
  program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  must("clCreateProgramWithSource", code == CL_SUCCESS);
  must("clBuildProgram", clBuildProgram(program, 1, &device, options, NULL, NULL) == CL_SUCCESS);
  kernel = clCreateKernel(program, "k", &code);
  must("clCreateKernel", code == CL_SUCCESS);
  out = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(result), &result, &code);
  must("clCreateBuffer", code == CL_SUCCESS);
  must("clSetKernelArg", clSetKernelArg(kernel, 0, sizeof(out), &out) == CL_SUCCESS);
  must("clEnqueueNDRangeKernel",
       clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL) == CL_SUCCESS);
  must("clEnqueueReadBuffer", clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(result), &result,
                                                  0, NULL, NULL) == CL_SUCCESS);
  printf("result %d\n", result);
  clReleaseMemObject(out);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
}

static void build(int number) {
  static const char format[] = "kernel void k(global int *out) { *out = %d; }\n";
  char text[sizeof(format) + 16];
  snprintf(text, sizeof(text), format, number);
  use(text, "", 1);
}

static void build_what_panics(void) {
  use("global int counter = 0;\n"
      "kernel void j(global int *out) { *out = counter; }\n"
      "kernel void k(global int *out) { *out = 5; }\n",
      "-cl-std=CL2.0", 1);
}

static void wait_for(const char *how, cl_event event, cl_mem out) {
  cl_int value = CL_QUEUED, code = CL_SUCCESS;
  if (strcmp(how, "event") == 0) {
    code = clWaitForEvents(1, &event);
  } else if (strcmp(how, "read") == 0) {
    code = clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(value), &value, 0, NULL, NULL);
  } else if (strcmp(how, "other") == 0) {
    code = clFinish(clCreateCommandQueue(context, device, 0, NULL));
  } else if (strcmp(how, "poll") == 0) {
    code = clFlush(queue);
    while (code == CL_SUCCESS && value != CL_COMPLETE) {
      code = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(value), &value, NULL);
    }
  } else {
    code = clFinish(queue);
  }
  must(how, code == CL_SUCCESS);
}

static void store(cl_mem out, const char *how) {
  static const char *source = "kernel void k(global int *out) { *out = 7; }\n";
  size_t one = 1;
  cl_int code = CL_SUCCESS;
  cl_event event;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  cl_kernel kernel;
  must("clCreateProgramWithSource", code == CL_SUCCESS);
  must("clBuildProgram", clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_SUCCESS);
  kernel = clCreateKernel(program, "k", &code);
  must("clCreateKernel", code == CL_SUCCESS);
  must("clSetKernelArg", clSetKernelArg(kernel, 0, sizeof(out), &out) == CL_SUCCESS);
  must("clEnqueueNDRangeKernel",
       clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, &event) == CL_SUCCESS);
  wait_for(how, event, out);
}

static int is_store(const char *word) {
  static const char *const words[] = {"store", "event", "read", "other", "poll"};
  size_t i;
  for (i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
    if (strcmp(word, words[i]) == 0) return 1;
  }
  return 0;
}

static void launch_what_ends_here(void) {
  static size_t items;
  use("kernel void k(global int *out) {\n"
      "  int turns = 0;\n"
      "  for (int i = 0; i < 100; i += out[0]) ++turns;\n"
      "  if (get_global_id(0) == 0) *out = turns;\n"
      "}\n",
      "", ++items);
}

static void say_children(void) {
  must("prctl", prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  printf("children: %s\n", waitpid(-1, NULL, WNOHANG | __WALL) == -1 ? "none" : "some");
}

static void open_own(int number) {
  static const char text[] = "what the application has to say.\r\n";
  char name[32];
  int fd, i;
  snprintf(name, sizeof(name), "own-%d.txt", number);
  fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  must("open", fd >= 0);
  for (i = 0; i < 8; ++i) {
    must("dup", dup(fd) >= 0);
  }
  must("write", write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
}

static void open_folder(void) {
  int fd = open("own", O_RDONLY | O_DIRECTORY);
  while (fd >= 0 && fd < kClosed) {
    fd = dup(fd);
  }
  must("open", fd >= 0);
}

int main(int count, char **words) {
  int i, fd, programs = 0, files = 0;
  device = first_device();
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, 0, NULL);
  must("clCreateCommandQueue", queue != NULL);
  for (i = 1; i < count; ++i) {
    if (strcmp(words[i], "build") == 0) {
      build(++programs);
    } else if (strcmp(words[i], "close") == 0) {
      for (fd = 3; fd < kClosed; ++fd) {
        close(fd);
      }
    } else if (strcmp(words[i], "open") == 0) {
      open_own(++files);
    } else if (strcmp(words[i], "panic") == 0) {
      build_what_panics();
    } else if (strcmp(words[i], "endless") == 0) {
      launch_what_ends_here();
    } else if (is_store(words[i])) {
      store(clCreateBuffer(context, 0, sizeof(cl_int), NULL, NULL), words[i]);
    } else if (strcmp(words[i], "fault") == 0) {
      store(NULL, "store");
    } else if (strcmp(words[i], "children") == 0) {
      say_children();
    } else if (strcmp(words[i], "wait") == 0) {
      usleep(500000);
    } else if (strcmp(words[i], "folder") == 0) {
      open_folder();
    } else {
      must(words[i], 0);
    }
  }
  return 0;
}
