// SPDX-License-Identifier: Apache-2.0
// How an ICD loader takes the layer, and what the layer leaves as it is.
#include <cstring>

#include <CL/cl_layer.h>
#include <dlfcn.h>

#include "tests/layer/calls/application.hpp"

namespace kiln::test {
namespace {

constexpr char kText[] = "kernel void f(int a, int b) {} kernel void g() {}";

template <typename Function>
Function *function_of_layer(const char *name) {
  void *layer = dlopen(kiln_layer_library, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(layer != nullptr);
  return reinterpret_cast<Function *>(dlsym(layer, name));
}

}  // namespace

TEST_CASE("the layer tells its version and its name") {
  const TemporaryFolder folder;
  Apart{folder}.run({}, [](const Application &) {
    const auto info = function_of_layer<decltype(::clGetLayerInfo)>("clGetLayerInfo");
    cl_layer_api_version version = 0;
    std::size_t size = 0;
    CHECK(info(CL_LAYER_API_VERSION, sizeof(version), &version, &size) == CL_SUCCESS);
    CHECK(version == CL_LAYER_API_VERSION_100);
    CHECK(size == sizeof(version));
    char name[5];
    CHECK(info(CL_LAYER_NAME, 0, nullptr, &size) == CL_SUCCESS);
    CHECK(size == sizeof(name));
    CHECK(info(CL_LAYER_NAME, sizeof(name), name, nullptr) == CL_SUCCESS);
    CHECK(std::string(name) == "Kiln");
    CHECK(info(CL_LAYER_NAME, sizeof(name) - 1, name, nullptr) == CL_INVALID_VALUE);
    CHECK(info(0, sizeof(name), name, nullptr) == CL_INVALID_VALUE);
  });
}

TEST_CASE("a layer without settings passes on the table below it, and no more than is there") {
  const TemporaryFolder folder;
  Apart{folder}.run({}, [](const Application &application) {
    const cl_icd_dispatch below = driver_table();
    CHECK(std::memcmp(&application.cl, &below, sizeof(below)) == 0);
    const auto init = function_of_layer<decltype(::clInitLayer)>("clInitLayer");
    cl_uint taken = 0;
    const cl_icd_dispatch *above = nullptr;
    CHECK(init(1, nullptr, &taken, &above) == CL_INVALID_VALUE);
    CHECK(init(1, &below, nullptr, &above) == CL_INVALID_VALUE);
    CHECK(init(1, &below, &taken, nullptr) == CL_INVALID_VALUE);
    CHECK(init(100'000, &below, &taken, &above) == CL_SUCCESS);
    CHECK(taken == sizeof(below) / sizeof(void *));
  });
}

TEST_CASE("a recording passes results, errors and null pointers on") {
  const TemporaryFolder folder;
  const Variables recording = {{"KILN_LAYER", "record"},
                               {"KILN_SPOOL", (folder.path() / "spool").string()}};
  Apart{folder, 2}.run(recording, [](const Application &a) {
    // The layer is not put above itself.
    const auto init = function_of_layer<decltype(::clInitLayer)>("clInitLayer");
    cl_uint taken = sizeof(a.cl) / sizeof(void *);
    const cl_icd_dispatch *above = nullptr;
    CHECK(init(taken, &a.cl, &taken, &above) == CL_INVALID_OPERATION);
    // No text, null texts, and lengths of which some are 0.
    cl_int code = CL_SUCCESS;
    const char *none[] = {nullptr};
    CHECK(a.cl.clCreateProgramWithSource(a.context, 0, nullptr, nullptr, &code) == nullptr);
    CHECK(code == CL_INVALID_VALUE);
    CHECK(a.cl.clCreateProgramWithSource(a.context, 1, none, nullptr, nullptr) == nullptr);
    const char *parts[] = {"kernel void f(int a) {}; NOT THIS", "kernel void g() {}"};
    const std::size_t lengths[] = {23, 0};
    const cl_program program =
        a.cl.clCreateProgramWithSource(a.context, 2, parts, lengths, nullptr);
    REQUIRE(program != nullptr);
    CHECK(a.text_of(program, CL_PROGRAM_SOURCE) == "kernel void f(int a) {}kernel void g() {}");

    const cl_device_id devices[] = {driver_device(0), driver_device(1)};
    CHECK(a.cl.clBuildProgram(program, 1, nullptr, "", nullptr, nullptr) == CL_INVALID_VALUE);
    CHECK(a.cl.clBuildProgram(program, 0, devices, "", nullptr, nullptr) == CL_INVALID_VALUE);
    const cl_device_id other = driver_device(2);
    CHECK(a.cl.clBuildProgram(program, 1, &other, "", nullptr, nullptr) == CL_INVALID_DEVICE);
    CHECK(a.status_of(program) == CL_BUILD_NONE);
    CHECK(a.cl.clBuildProgram(program, 2, devices, "-DX", nullptr, nullptr) == CL_SUCCESS);
    CHECK(a.status_of(program, 0) == CL_BUILD_SUCCESS);
    CHECK(a.status_of(program, 1) == CL_BUILD_SUCCESS);
    CHECK(a.build_text_of(program, CL_PROGRAM_BUILD_OPTIONS, 1) == "-DX");

    CHECK(a.cl.clCreateKernel(program, "absent", &code) == nullptr);
    CHECK(code == CL_INVALID_KERNEL_NAME);
    CHECK(a.cl.clCreateKernel(program, "absent", nullptr) == nullptr);
    cl_uint count = 0;
    CHECK(a.cl.clCreateKernelsInProgram(program, 0, nullptr, &count) == CL_SUCCESS);
    CHECK(count == 2);
    cl_kernel kernels[3] = {};
    count = 0;
    CHECK(a.cl.clCreateKernelsInProgram(program, 1, kernels, &count) == CL_INVALID_VALUE);
    CHECK(count == 0);
    CHECK(a.cl.clCreateKernelsInProgram(program, 3, kernels, nullptr) == CL_SUCCESS);
    CHECK(kernels[2] == nullptr);
    CHECK(a.text_of(kernels[1], CL_KERNEL_FUNCTION_NAME) == "g");

    const cl_kernel clone = a.cl.clCloneKernel(kernels[0], nullptr);
    REQUIRE(clone != nullptr);
    a.release(kernels[0]);
    CHECK(a.text_of(clone, CL_KERNEL_FUNCTION_NAME) == "f");
    driver().fails["clCloneKernel"] = CL_OUT_OF_RESOURCES;
    CHECK(a.cl.clCloneKernel(clone, &code) == nullptr);
    CHECK(code == CL_OUT_OF_RESOURCES);
    CHECK(a.cl.clRetainKernel(clone) == CL_SUCCESS);
    driver().fails["clRetainKernel"] = CL_OUT_OF_HOST_MEMORY;
    CHECK(a.cl.clRetainKernel(clone) == CL_OUT_OF_HOST_MEMORY);
    driver().fails["clRetainProgram"] = CL_OUT_OF_HOST_MEMORY;
    CHECK(a.cl.clRetainProgram(program) == CL_OUT_OF_HOST_MEMORY);
    CHECK(a.references_of(program) == 1);
    a.release(clone);
    a.release(clone);
    a.release(kernels[1]);
    a.release(program);
  });
}

TEST_CASE("a program that the driver does not create, build or link is the driver's error") {
  const TemporaryFolder folder;
  const Variables overlay = {{"KILN_OVERLAY", (folder.path() / "overlay").string()},
                             {"KILN_REPORT", (folder.path() / "report").string()}};
  Apart{folder}.run(overlay, [](const Application &a) {
    const cl_program broken = a.from_source("BROKEN kernel void f() {}");
    CHECK(a.build(broken) == CL_BUILD_PROGRAM_FAILURE);
    CHECK(a.status_of(broken) == CL_BUILD_ERROR);
    CHECK(a.build_text_of(broken, CL_PROGRAM_BUILD_LOG) == "it is broken");
    CHECK(a.compile(broken) == CL_COMPILE_PROGRAM_FAILURE);
    cl_int code = CL_SUCCESS;
    CHECK(a.linked({broken}, "", &code) == nullptr);
    CHECK(code == CL_INVALID_OPERATION);
    CHECK(a.linked({}, "", &code) == nullptr);
    CHECK(code == CL_INVALID_VALUE);
    CHECK(a.cl.clLinkProgram(a.context, 0, nullptr, "", 1, nullptr, nullptr, nullptr, nullptr) ==
          nullptr);
    a.release(broken);

    driver().fails["clCreateProgramWithSource"] = CL_OUT_OF_HOST_MEMORY;
    const char *text = kText;
    CHECK(a.cl.clCreateProgramWithSource(a.context, 1, &text, nullptr, &code) == nullptr);
    CHECK(code == CL_OUT_OF_HOST_MEMORY);
    driver().fails["clCreateProgramWithIL"] = CL_INVALID_OPERATION;
    CHECK(a.cl.clCreateProgramWithIL(a.context, text, 4, &code) == nullptr);
    CHECK(code == CL_INVALID_OPERATION);
    CHECK(a.cl.clCreateProgramWithIL(a.context, text, 4, nullptr) == nullptr);
    CHECK(a.cl.clBuildProgram(nullptr, 0, nullptr, "", nullptr, nullptr) == CL_INVALID_PROGRAM);
    CHECK(a.cl.clCompileProgram(nullptr, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr) ==
          CL_INVALID_PROGRAM);
    CHECK(a.cl.clReleaseProgram(nullptr) == CL_INVALID_VALUE);
    CHECK(a.cl.clReleaseKernel(nullptr) == CL_INVALID_KERNEL);
    CHECK(a.cl.clCloneKernel(nullptr, &code) == nullptr);
    CHECK(a.cl.clGetProgramInfo(nullptr, CL_PROGRAM_NUM_KERNELS, 0, nullptr, nullptr) ==
          CL_INVALID_PROGRAM);
  });
  const std::string parts =
      "passed, it is not of programs that were compiled from source for the same devices, in plain "
      "calls";
  CHECK(outcomes(folder.path() / "report") ==
        std::vector<std::string>{"passed, the driver does not build it", parts, parts, parts});
}

}  // namespace kiln::test
