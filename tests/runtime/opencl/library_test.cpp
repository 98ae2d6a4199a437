// SPDX-License-Identifier: Apache-2.0
// The table of OpenCL entry points, and the identity of whatever devices are here.
#include "runtime/opencl/library.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "runtime/device/device.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::runtime;
using kiln::test::mentions;

extern "C" const char kiln_pixel_library[];

namespace {

// A library that every system has, and the system's words about one that is not there.
#ifdef _WIN32
constexpr char kNotOpenCL[] = "kernel32.dll";
constexpr char kNoSuchFile[] = "not found";
#else
constexpr char kNotOpenCL[] = "libm.so.6";
constexpr char kNoSuchFile[] = "No such file";
#endif

char some_function;

// A library that lacks the entry points whose names the context lists.
void *look_up_all_but(void *context, const char *name) {
  for (const std::string &missing : *static_cast<std::vector<std::string> *>(context)) {
    if (missing == name) return nullptr;
  }
  return &some_function;
}

kiln::packs::Status fill_without(std::vector<std::string> names, OpenCL *cl) {
  return fill_opencl_table(look_up_all_but, &names, cl);
}

// What follows "tried:" in the message of a failure.
std::string fail_to_load(const std::vector<const char *> &names, OpenCL *cl) {
  const kiln::packs::Status status = load_opencl(names.data(), names.size(), cl);
  CHECK(status.code == kiln::packs::Code::no_opencl);
  const std::string start = "no usable OpenCL library; tried:\n";
  REQUIRE(status.message.compare(0, start.size(), start) == 0);
  return status.message.substr(start.size());
}

bool load_real(OpenCL *cl) {
  const LibraryCandidates candidates = default_opencl_candidates();
  return load_opencl(candidates.names, candidates.count, cl).ok();
}

}  // namespace

TEST_CASE("a library with every entry point fills the table", "[opencl]") {
  OpenCL cl;
  CHECK(fill_without({}, &cl).ok());
  CHECK(cl.clGetPlatformIDs != nullptr);
  CHECK(cl.clCreateProgramWithIL != nullptr);
}

TEST_CASE("a library that lacks a required entry point is named by it", "[opencl]") {
  OpenCL cl;
  CHECK(fill_without({"clFinish"}, &cl).message == "lacks clFinish");
  CHECK(fill_without({"clFinish", "clCreateImage"}, &cl).message ==
        "lacks clCreateImage, clFinish");
  CHECK(fill_without({"clFinish", "clCreateImage", "clBuildProgram", "clFlush"}, &cl).message ==
        "lacks clCreateImage, clBuildProgram, clFlush and 1 more");
  CHECK(fill_without({"clFinish", "clCreateImage", "clFlush"}, &cl).message ==
        "lacks clCreateImage, clFlush, clFinish");
  CHECK(mentions(
      fill_without({"clFinish", "clCreateImage", "clBuildProgram", "clFlush", "clSetKernelArg"},
                   &cl)
          .message,
      " and 2 more"));
  CHECK(cl.clGetPlatformIDs == nullptr);
}

TEST_CASE("an optional entry point may be absent", "[opencl]") {
  OpenCL cl;
  CHECK(fill_without({"clCreateProgramWithIL"}, &cl).ok());
  CHECK(cl.clCreateProgramWithIL == nullptr);
  CHECK(cl.clCreateCommandQueue != nullptr);
}

TEST_CASE("a path that does not exist is tried and explained", "[opencl]") {
  OpenCL cl;
  const std::string tried = fail_to_load({"/nowhere/libOpenCL.so"}, &cl);
  CHECK(cl.clGetPlatformIDs == nullptr);
  const std::string path = "/nowhere/libOpenCL.so: ";
  CHECK(tried.compare(0, path.size(), path) == 0);
  CHECK(tried.find(kNoSuchFile) != std::string::npos);
  CHECK(tried.find(path, 1) == std::string::npos);  // the reason does not repeat the path
  CHECK(tried.back() == '\n');
}

TEST_CASE("a library that is not OpenCL is passed over and named", "[opencl]") {
  OpenCL cl;
  const std::string tried = fail_to_load({kNotOpenCL}, &cl);
  CHECK(tried.find(kNotOpenCL + std::string(": lacks clGetPlatformIDs, clGetPlatformInfo")) == 0);
  CHECK(tried.find(" more\n") != std::string::npos);
  CHECK(cl.clGetPlatformIDs == nullptr);
}

TEST_CASE("no candidates is no library", "[opencl]") {
  OpenCL cl;
  CHECK(fail_to_load({}, &cl).empty());
}

TEST_CASE("the search goes on to the real library and lists what came before", "[opencl]") {
  OpenCL real;
  if (!load_real(&real)) KILN_SKIP("no OpenCL library here");
  std::vector<const char *> names = {"/nowhere/libOpenCL.so", kNotOpenCL};
  const LibraryCandidates candidates = default_opencl_candidates();
  names.insert(names.end(), candidates.names, candidates.names + candidates.count);
  OpenCL cl;
  std::string tried;
  REQUIRE(load_opencl(names.data(), names.size(), &cl, &tried).ok());
  CHECK(cl.clGetPlatformIDs == real.clGetPlatformIDs);
  CHECK(tried.find("/nowhere/libOpenCL.so: ") == 0);
  CHECK(tried.find(std::string("\n") + kNotOpenCL + ": lacks ") != std::string::npos);
  CHECK(tried.find(": loaded\n") + std::strlen(": loaded\n") == tried.size());
}

TEST_CASE("a Pixel library is enabled first and asked through its own function", "[opencl]") {
  OpenCL cl;
  std::string tried;
  const char *const names[] = {kiln_pixel_library};
  CHECK(load_opencl(names, 1, &cl, &tried).ok());
  CHECK(tried == std::string(kiln_pixel_library) + ": loaded\n");
  cl_uint count = 0;
  REQUIRE(cl.clGetPlatformIDs != nullptr);
  CHECK(cl.clGetPlatformIDs(0, nullptr, &count) == CL_SUCCESS);
  CHECK(count == 7);  // what tests/support/pixel_opencl.c answers
}

TEST_CASE("an OpenCL version is read from the start of its string", "[opencl]") {
  CHECK(parse_opencl_version("OpenCL 1.2 ") == 102);
  CHECK(parse_opencl_version("OpenCL 3.0 Adreno(TM) 750") == 300);
  CHECK(parse_opencl_version("OpenCL 2.1") == 201);
  CHECK(parse_opencl_version("OpenCL 1.0") == 100);
  CHECK(parse_opencl_version("OpenCL 9.9") == 909);
  for (const char *text : {"", "OpenCL", "OpenCL ", "OpenCL 3", "OpenCL 3.", "OpenCL x.0",
                           "OpenCL 0.9", "OpenGL 3.0", " OpenCL 3.0", "OpenCL C 1.2", "OpenCL :.0",
                           "OpenCL 1x2", "OpenCL 1./", "OpenCL 1.:", "OpenCL 12.0"}) {
    CAPTURE(text);
    CHECK(parse_opencl_version(text) == 0);
  }
}

namespace {

cl_program CL_API_CALL core_il(cl_context, const void *, size_t, cl_int *) { return nullptr; }
cl_program CL_API_CALL extension_il(cl_context, const void *, size_t, cl_int *) { return nullptr; }

void *CL_API_CALL find_extension(cl_platform_id, const char *name) {
  return std::string(name) == "clCreateProgramWithILKHR" ? reinterpret_cast<void *>(&extension_il)
                                                         : nullptr;
}

}  // namespace

TEST_CASE("IL goes to OpenCL 2.1's function, or to the extension's", "[opencl]") {
  OpenCL cl{};
  cl.clCreateProgramWithIL = core_il;
  cl.clGetExtensionFunctionAddressForPlatform = find_extension;
  CHECK(create_program_with_il(cl, nullptr, "OpenCL 3.0 x") == &core_il);
  CHECK(create_program_with_il(cl, nullptr, "OpenCL 2.1 x") == &core_il);
  CHECK(create_program_with_il(cl, nullptr, "OpenCL 2.0 x") == &extension_il);
  CHECK(create_program_with_il(cl, nullptr, "x") == &extension_il);
  cl.clCreateProgramWithIL = nullptr;
  CHECK(create_program_with_il(cl, nullptr, "OpenCL 2.1 x") == &extension_il);
}

TEST_CASE("every device here describes itself the same way twice", "[opencl]") {
  OpenCL cl;
  if (!load_real(&cl)) KILN_SKIP("no OpenCL library here");
  cl_uint count = 0;
  if (cl.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) {
    KILN_SKIP("no OpenCL platform here");
  }
  std::vector<cl_platform_id> platforms(count);
  REQUIRE(cl.clGetPlatformIDs(count, platforms.data(), nullptr) == CL_SUCCESS);
  for (cl_platform_id platform : platforms) {
    cl_device_id device = nullptr;
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
      continue;
    }
    std::vector<std::string> extensions;
    const Identity identity = query_identity(cl, platform, device, &extensions);
    CAPTURE(identity.text(Field::device_name));
    CHECK(identity[Field::device_name]);
    CHECK(identity[Field::extensions_hash]);
    std::vector<std::string> again;
    CHECK(describe(identity).key.text() ==
          describe(query_identity(cl, platform, device, &again)).key.text());
    CHECK(again == extensions);
    const Capabilities capabilities = query_capabilities(cl, device, identity, extensions);
    CHECK(capabilities.extensions == extensions);
    CHECK(std::to_string(capabilities.address_bits) == identity.text(Field::address_bits));
  }
}
