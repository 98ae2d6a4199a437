// SPDX-License-Identifier: Apache-2.0
// An application whose callbacks do not return: they throw what main() catches, or end their
// thread. It says what happened, and launches what it built. It is linked with the shared unwinder,
// and, as portable programs are, with one of its own.
//
// Exit codes: 0, 1 a call failed, 77 no device.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>

namespace {

constexpr char kCaller[] =
    "int value(void);\n"
    "kernel void k(global int *out) { out[get_global_id(0)] = value(); }\n";
constexpr char kCalled[] = "int value(void) { return VALUE; }\n";
constexpr char kWhole[] = "kernel void k(global int *out) { out[get_global_id(0)] = VALUE; }\n";

cl_device_id device;
cl_context context;
cl_program called_for;
char ended;

void must(const char *call, cl_int code) {
  if (code == CL_SUCCESS) return;
  std::printf("%s: %d\n", call, code);
  std::exit(1);
}

cl_program created(const char *text) {
  cl_int code = CL_SUCCESS;
  const cl_program made = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  must("clCreateProgramWithSource", code);
  return made;
}

void CL_CALLBACK throws(cl_program program, void *) {
  called_for = program;
  throw std::runtime_error("thrown");
}

void CL_CALLBACK ends_thread(cl_program program, void *) {
  called_for = program;
  pthread_exit(&ended);
}

using Callback = decltype(&throws);
using Call = std::function<void(Callback)>;

// Has the call's callback throw, or end a thread.
void leave(const char *name, const Call &call) {
  try {
    call(throws);
    std::printf("%s: returned\n", name);
  } catch (const std::runtime_error &error) {
    std::printf("%s: %s\n", name, error.what());
  }
  pthread_t thread;
  const auto on_thread = [](void *given) -> void * {
    (*static_cast<const Call *>(given))(ends_thread);
    return nullptr;
  };
  must("pthread_create", pthread_create(&thread, nullptr, on_thread, const_cast<Call *>(&call)));
  void *result = nullptr;
  must("pthread_join", pthread_join(thread, &result));
  std::printf("%s: thread %s\n", name, result == &ended ? "ended" : "returned");
}

void launch(cl_program program) {
  cl_int code = CL_SUCCESS, result = 0;
  const std::size_t items = 1;
  const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  must("clCreateCommandQueue", code);
  const cl_mem out = clCreateBuffer(context, 0, sizeof(result), nullptr, &code);
  must("clCreateBuffer", code);
  const cl_kernel kernel = clCreateKernel(program, "k", &code);
  must("clCreateKernel", code);
  must("clSetKernelArg", clSetKernelArg(kernel, 0, sizeof(out), &out));
  must("clEnqueueNDRangeKernel",
       clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
  must("clEnqueueReadBuffer",
       clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(result), &result, 0, nullptr, nullptr));
  std::printf("result %d\n", result);
  clReleaseKernel(kernel);
}

}  // namespace

int main() {
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    std::printf("SKIP: there is no OpenCL device\n");
    return 77;
  }
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  const cl_program whole = created(kWhole);
  leave("build", [&](Callback left) {
    (void)clBuildProgram(whole, 1, &device, "-DVALUE=1", left, nullptr);
  });
  launch(whole);
  must("clBuildProgram", clBuildProgram(whole, 1, &device, "-DVALUE=2", nullptr, nullptr));
  launch(whole);
  const cl_program parts[] = {created(kCaller), created(kCalled)};
  for (const cl_program part : parts) {
    leave("compile", [&](Callback left) {
      (void)clCompileProgram(part, 1, &device, "-DVALUE=3", 0, nullptr, nullptr, left, nullptr);
    });
  }
  leave("link", [&](Callback left) {
    (void)clLinkProgram(context, 1, &device, "", 2, parts, left, nullptr, nullptr);
  });
  launch(called_for);
  return 0;
}
