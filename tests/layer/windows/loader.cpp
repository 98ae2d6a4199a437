// SPDX-License-Identifier: Apache-2.0
// An ICD loader for the test under Wine. As Khronos's, it puts a layer that the registry or
// OPENCL_LAYERS names above a driver; here that is Wine's own opencl.dll, which takes no layers.
#include <CL/cl_layer.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include <windows.h>

#include "runtime/opencl/library.hpp"

namespace {

cl_icd_dispatch table;

[[noreturn]] void die(const char *why) {
  std::fprintf(stderr, "loader: %s\n", why);
  ExitProcess(3);
}

template <typename Function>
Function function(HMODULE library, const char *name) {
  return reinterpret_cast<Function>(reinterpret_cast<void *>(GetProcAddress(library, name)));
}

// What the test application calls and Kiln does not.
#define MORE(X)                        \
  X(clGetContextInfo)                  \
  X(clGetCommandQueueInfo)             \
  X(clCreateSubDevices)                \
  X(clRetainKernel)                    \
  X(clRetainProgram)                   \
  X(clCreateKernelsInProgram)          \
  X(clCreateProgramWithBuiltInKernels) \
  X(clEnqueueReadBuffer)               \
  X(clEnqueueWriteBuffer)              \
  X(clEnqueueTask)                     \
  X(clGetKernelArgInfo)                \
  X(clCloneKernel)
#define FUNCTIONS(X) KILN_OPENCL_REQUIRED(X) KILN_OPENCL_OPTIONAL(X) MORE(X)

#define TAKE(name) table.name = function<decltype(table.name)>(below, #name);
void take_driver() {
  wchar_t folder[MAX_PATH];
  GetSystemDirectoryW(folder, MAX_PATH);
  const HMODULE below = LoadLibraryW((std::wstring(folder) + L"\\opencl.dll").c_str());
  if (below == nullptr) die("the system's folder has no opencl.dll");
  FUNCTIONS(TAKE)
}

void take_layer(const wchar_t *path) {
  const HMODULE layer = LoadLibraryW(path);
  const auto init = function<pfn_clInitLayer>(layer, "clInitLayer");
  const cl_icd_dispatch below = table;
  const cl_icd_dispatch *above = nullptr;
  cl_uint count = sizeof(table) / sizeof(void *);
  if (init == nullptr) die("the layer cannot be loaded");
  if (init(count, &below, &count, &above) != CL_SUCCESS) return;
  std::copy_n(reinterpret_cast<void *const *>(above), count, reinterpret_cast<void **>(&table));
}

bool start() {
  take_driver();
  wchar_t path[1024];
  HKEY key = nullptr;
  DWORD size = 1024;
  if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Khronos\\OpenCL\\Layers", 0, KEY_READ, &key) ==
          ERROR_SUCCESS &&
      RegEnumValueW(key, 0, path, &size, nullptr, nullptr, nullptr, nullptr) == ERROR_SUCCESS) {
    take_layer(path);
  }
  size = GetEnvironmentVariableW(L"OPENCL_LAYERS", path, 1024);
  if (size != 0 && size < 1024) take_layer(path);
  return true;
}

[[maybe_unused]] const bool started = start();

}  // namespace

// Each exported function goes on where the table says.
#define FORWARD(name)                                             \
  extern "C" __attribute__((naked, used)) void forward_##name() { \
    __asm__("jmp *%0" : : "m"(table.name));                       \
  }                                                               \
  __asm__(".globl " #name "\n.set " #name ", forward_" #name      \
          "\n.section .drectve\n"                                 \
          ".ascii \" -export:" #name "\"\n.text");
FUNCTIONS(FORWARD)
