// SPDX-License-Identifier: Apache-2.0
// The only way Kiln reaches OpenCL: one table of entry points, filled by dlopen, and owners of the
// objects that it makes. The runtime links no OpenCL library and starts on a machine that has none.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue, for 1.x drivers
#endif
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "kiln/packs/status.hpp"

// Entry points that every OpenCL 1.2 library has; a library that lacks one is skipped.
#define KILN_OPENCL_REQUIRED(X) \
  X(clGetPlatformIDs)           \
  X(clGetPlatformInfo)          \
  X(clGetDeviceIDs)             \
  X(clGetDeviceInfo)            \
  X(clCreateContext)            \
  X(clRetainContext)            \
  X(clReleaseContext)           \
  X(clCreateCommandQueue)       \
  X(clRetainCommandQueue)       \
  X(clReleaseCommandQueue)      \
  X(clCreateBuffer)             \
  X(clCreateImage)              \
  X(clRetainMemObject)          \
  X(clGetMemObjectInfo)         \
  X(clGetImageInfo)             \
  X(clReleaseMemObject)         \
  X(clEnqueueMapBuffer)         \
  X(clEnqueueMapImage)          \
  X(clEnqueueUnmapMemObject)    \
  X(clCreateProgramWithSource)  \
  X(clCreateProgramWithBinary)  \
  X(clBuildProgram)             \
  X(clGetProgramInfo)           \
  X(clGetProgramBuildInfo)      \
  X(clReleaseProgram)           \
  X(clCreateKernel)             \
  X(clGetKernelInfo)            \
  X(clGetKernelWorkGroupInfo)   \
  X(clSetKernelArg)             \
  X(clReleaseKernel)            \
  X(clEnqueueNDRangeKernel)     \
  X(clFlush)                    \
  X(clFinish)                   \
  X(clWaitForEvents)            \
  X(clRetainEvent)              \
  X(clGetEventInfo)             \
  X(clGetEventProfilingInfo)    \
  X(clReleaseEvent)             \
  X(clGetExtensionFunctionAddressForPlatform)

// Entry points of later versions, and others that a slim library may leave out: null if absent. An
// ICD loader exports them whatever the driver's version is. So check the version of the platform or
// device before the call, not only the pointer.
#define KILN_OPENCL_OPTIONAL(X)   \
  X(clCompileProgram)             \
  X(clLinkProgram)                \
  X(clCreateProgramWithIL)        \
  X(clRetainDevice)               \
  X(clReleaseDevice)              \
  X(clSetEventCallback)           \
  X(clEnqueueFillBuffer)          \
  X(clUnloadPlatformCompiler)     \
  X(clGetDeviceAndHostTimer)      \
  X(clSetKernelArgSVMPointer)     \
  X(clCreateSampler)              \
  X(clReleaseSampler)             \
  X(clCreateSubBuffer)            \
  X(clEnqueueMarkerWithWaitList)  \
  X(clCreateBufferWithProperties) \
  X(clCreateImageWithProperties)  \
  X(clCreateCommandQueueWithProperties)

namespace kiln::runtime {

// The entry points, named as in the specification. Plain pointers: copying is cheap, the
// library behind them stays loaded for the life of the process, and any thread may read
// a filled table.
struct OpenCL {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declared name takes none
#define KILN_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  KILN_OPENCL_REQUIRED(KILN_OPENCL_MEMBER)
  KILN_OPENCL_OPTIONAL(KILN_OPENCL_MEMBER)
#undef KILN_OPENCL_MEMBER
};

// Returns the address of the named entry point, or null.
using SymbolLookup = void *(*)(void *context, const char *name);

// Fills `out` through `lookup`. Fails with Code::no_opencl, and leaves `out` untouched, if required
// entry points are missing; the message is "lacks clCreateImage, clFinish and 3 more".
packs::Status fill_opencl_table(SymbolLookup lookup, void *context, OpenCL *out);

// This platform's OpenCL libraries, in the order of trying (see load_opencl). Bare names come
// first: absolute paths are usually blocked by Android's linker namespace.
struct LibraryCandidates {
  const char *const *names;
  std::size_t count;
};
LibraryCandidates default_opencl_candidates();

// Opens the candidates in order until one has every required entry point, and fills `out` from that
// library. If a library exports enableOpenCL and loadOpenCLPointer (Pixel phones), its entry points
// are looked up through them. Fails with Code::no_opencl, with `out` untouched, if no candidate is
// usable; the message ends with one line for each candidate tried, ending in a newline: "NAME:
// lacks clCreateImage" or "NAME: " and the linker's reason. On success `tried` (may be null) gets
// these lines and "NAME: loaded".
// No library is ever closed again, used or not: drivers do not survive dlclose. Runs the libraries'
// initialisers; safe to call from several threads, each with its own `out`.
packs::Status load_opencl(const char *const *candidates, std::size_t count, OpenCL *out,
                          std::string *tried = nullptr);

// Returns why open_library(name) just failed, in the system's words without the repeated name.
std::string library_error(const char *name);

// Returns the function that makes a program from IL on the platform: OpenCL 2.1's own, else the
// function of cl_khr_il_program (the two have the same type), else null. `device_version` is the
// CL_DEVICE_VERSION string of the device that the program is for.
decltype(&::clCreateProgramWithIL) create_program_with_il(const OpenCL &cl, cl_platform_id platform,
                                                          const std::string &device_version);

// Returns an extension's function, or null. Only for a platform whose device lists the extension: a
// driver may answer with an address for any name.
template <typename Function>
Function extension_function(const OpenCL &cl, cl_platform_id platform, const char *name) {
  void *address = cl.clGetExtensionFunctionAddressForPlatform(platform, name);
  Function function;
  static_assert(sizeof(function) == sizeof(address), "a function pointer is an address");
  std::memcpy(&function, &address, sizeof(function));
  return function;
}

// Parses the strings of CL_PLATFORM_VERSION and CL_DEVICE_VERSION: "OpenCL 2.1 NEO" is 201. Returns
// 0 if the text is not an OpenCL version.
unsigned parse_opencl_version(const std::string &text);

// Owns one reference to an OpenCL object, and releases it through the table that it came from. Move
// only.
template <typename T>
class Handle {
 public:
  using Release = cl_int(CL_API_CALL *)(T);

  Handle() = default;
  Handle(T object, Release release) : object_(object), release_(release) {}
  Handle(Handle &&other) noexcept
      : object_(std::exchange(other.object_, nullptr)), release_(other.release_) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(object_, other.object_);
    std::swap(release_, other.release_);
    return *this;
  }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  ~Handle() {
    if (object_ != nullptr) release_(object_);
  }

  T get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T object_ = nullptr;
  Release release_ = nullptr;
};

}  // namespace kiln::runtime
