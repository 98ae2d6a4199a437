// SPDX-License-Identifier: Apache-2.0
// Through the loader, every handle that a query of the scripted driver returns is one that the
// application knows, and what is forwarded works.
#include "tests/driver/machine.hpp"

#include <CL/cl_icd.h>

using namespace kiln::test;

TEST_CASE("every platform, device, context and program that a query returns is known") {
  KILN_NEEDS_POCL();
  const json answer = in_child(two_devices(""), [] {
    const Machine machine = open_machine();
    cl_program program = build(machine);
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = CL(clCreateKernel)(program, "twice", &code);
    require(code == CL_SUCCESS, "clCreateKernel");
    cl_mem buffer = CL(clCreateBuffer)(machine.context, CL_MEM_READ_WRITE, 64, nullptr, &code);
    cl_event event = CL(clCreateUserEvent)(machine.context, &code);
    require(ask<cl_platform_id>(CL(clGetDeviceInfo), machine.devices[0], CL_DEVICE_PLATFORM) ==
                machine.platforms[0],
            "the device's platform");
    require(ask<cl_uint>(CL(clGetContextInfo), machine.context, CL_CONTEXT_NUM_DEVICES) == 2,
            "the context's number of devices");
    require(ask<std::array<cl_device_id, 2>>(CL(clGetContextInfo), machine.context,
                                             CL_CONTEXT_DEVICES)[1] == machine.devices[1],
            "the context's devices");
    require(ask<std::array<cl_context_properties, 3>>(CL(clGetContextInfo), machine.context,
                                                      CL_CONTEXT_PROPERTIES)[1] ==
                reinterpret_cast<cl_context_properties>(machine.platforms[0]),
            "the context's platform");
    require(ask<cl_device_id>(CL(clGetCommandQueueInfo), machine.queue, CL_QUEUE_DEVICE) ==
                machine.devices[1],
            "the queue's device");
    require(ask<std::array<cl_device_id, 2>>(CL(clGetProgramInfo), program,
                                             CL_PROGRAM_DEVICES)[0] == machine.devices[0],
            "the program's devices");
    require(ask<cl_program>(CL(clGetKernelInfo), kernel, CL_KERNEL_PROGRAM) == program,
            "the kernel's program");
    for (const cl_context context :
         {ask<cl_context>(CL(clGetCommandQueueInfo), machine.queue, CL_QUEUE_CONTEXT),
          ask<cl_context>(CL(clGetProgramInfo), program, CL_PROGRAM_CONTEXT),
          ask<cl_context>(CL(clGetKernelInfo), kernel, CL_KERNEL_CONTEXT),
          ask<cl_context>(CL(clGetMemObjectInfo), buffer, CL_MEM_CONTEXT),
          ask<cl_context>(CL(clGetEventInfo), event, CL_EVENT_CONTEXT)}) {
      require(context == machine.context, "a context");
    }
    return json(true);
  });
  CHECK(answer == true);
}

TEST_CASE("buffers, wait lists, maps and profiling work across two kernels") {
  KILN_NEEDS_POCL();
  const json answer = in_child(computing_device(""), [] {
    const Machine machine = open_machine();
    cl_program program = build(machine);
    cl_int code = CL_SUCCESS;
    cl_kernel kernels[2];
    for (cl_kernel &kernel : kernels) kernel = CL(clCreateKernel)(program, "twice", &code);
    const cl_uint in[4] = {1, 2, 3, 4};
    cl_mem buffers[3];
    for (cl_mem &buffer : buffers) {
      buffer = CL(clCreateBuffer)(machine.context, CL_MEM_READ_WRITE, sizeof(in), nullptr, &code);
    }
    cl_event events[3];
    cl_event gate = CL(clCreateUserEvent)(machine.context, &code);
    REQUIRE_CL(CL(clEnqueueWriteBuffer)(machine.queue, buffers[0], CL_FALSE, 0, sizeof(in), in, 1,
                                        &gate, &events[0]));
    const std::size_t global = 4;
    for (int i = 0; i < 2; ++i) {
      CL(clSetKernelArg)(kernels[i], 0, sizeof(cl_mem), &buffers[i]);
      CL(clSetKernelArg)(kernels[i], 1, sizeof(cl_mem), &buffers[i + 1]);
      REQUIRE_CL(CL(clEnqueueNDRangeKernel)(machine.queue, kernels[i], 1, nullptr, &global, nullptr,
                                            1, &events[i], &events[i + 1]));
    }
    REQUIRE_CL(CL(clSetUserEventStatus)(gate, CL_COMPLETE));
    REQUIRE_CL(CL(clWaitForEvents)(3, events));
    void *mapped = CL(clEnqueueMapBuffer)(machine.queue, buffers[2], CL_TRUE, CL_MAP_READ, 0,
                                          sizeof(in), 1, &events[2], nullptr, &code);
    require(mapped != nullptr, "clEnqueueMapBuffer");
    json out = json::array();
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<const cl_uint *>(mapped)[i]);
    REQUIRE_CL(CL(clEnqueueUnmapMemObject)(machine.queue, buffers[2], mapped, 0, nullptr, nullptr));
    REQUIRE_CL(CL(clFinish)(machine.queue));
    require(ask<cl_ulong>(CL(clGetEventProfilingInfo), events[2], CL_PROFILING_COMMAND_END) >=
                ask<cl_ulong>(CL(clGetEventProfilingInfo), events[2], CL_PROFILING_COMMAND_START),
            "the times");
    return out;
  });
  CHECK(answer == json({4, 8, 12, 16}));
}

TEST_CASE("images are read and written") {
  KILN_NEEDS_POCL();
  const json answer = in_child(computing_device(""), [] {
    const Machine machine = open_machine();
    cl_program program = build(machine);
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = CL(clCreateKernel)(program, "flip", &code);
    const cl_image_format format = {CL_R, CL_UNORM_INT8};
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = 4;
    description.image_height = 1;
    unsigned char pixels[4] = {0, 1, 254, 255};
    cl_mem images[2];
    for (int i = 0; i < 2; ++i) {
      images[i] = CL(clCreateImage)(machine.context, CL_MEM_READ_WRITE, &format, &description,
                                    nullptr, &code);
      require(code == CL_SUCCESS, "clCreateImage");
      CL(clSetKernelArg)(kernel, static_cast<cl_uint>(i), sizeof(cl_mem), &images[i]);
    }
    const std::size_t origin[3] = {0, 0, 0};
    const std::size_t region[3] = {4, 1, 1};
    REQUIRE_CL(CL(clEnqueueWriteImage)(machine.queue, images[0], CL_TRUE, origin, region, 0, 0,
                                       pixels, 0, nullptr, nullptr));
    REQUIRE_CL(CL(clEnqueueNDRangeKernel)(machine.queue, kernel, 2, nullptr, region, nullptr, 0,
                                          nullptr, nullptr));
    REQUIRE_CL(CL(clEnqueueReadImage)(machine.queue, images[1], CL_TRUE, origin, region, 0, 0,
                                      pixels, 0, nullptr, nullptr));
    return json(std::vector<int>(pixels, pixels + 4));
  });
  CHECK(answer == json({255, 254, 1, 0}));
}

TEST_CASE("images that the device says it has can be refused") {
  KILN_NEEDS_POCL();
  const json answer = in_child(
      computing_device("images = true\n[[fault]]\nat = \"clCreateImage\"\ndo = \"error\"\n"
                       "code = -10"),
      [] {
        const Machine machine = open_machine();
        const cl_image_format format = {CL_R, CL_UNORM_INT8};
        cl_image_desc description{};
        description.image_type = CL_MEM_OBJECT_IMAGE2D;
        description.image_width = description.image_height = 4;
        cl_int code = CL_SUCCESS;
        const cl_mem image = CL(clCreateImage)(machine.context, CL_MEM_READ_WRITE, &format,
                                               &description, nullptr, &code);
        return json{ask<cl_bool>(CL(clGetDeviceInfo), machine.devices[0], CL_DEVICE_IMAGE_SUPPORT),
                    image == nullptr, code};
      });
  CHECK(answer == json{CL_TRUE, true, CL_IMAGE_FORMAT_NOT_SUPPORTED});
}

TEST_CASE("a program that was released is no longer a program") {
  KILN_NEEDS_POCL();
  const json answer = in_child(computing_device(""), [] {
    const Machine machine = open_machine();
    cl_program program = build(machine);
    REQUIRE_CL(CL(clRetainProgram)(program));
    REQUIRE_CL(CL(clReleaseProgram)(program));
    cl_uint count = 0;
    const cl_int held =
        CL(clGetProgramInfo)(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr);
    REQUIRE_CL(CL(clReleaseProgram)(program));
    return json{held, CL(clReleaseProgram)(program)};
  });
  CHECK(answer == json{CL_SUCCESS, CL_INVALID_PROGRAM});
}

TEST_CASE("a device that does not forward answers for itself and makes no context") {
  const json answer = in_child(
      "[[platform]]\nname = \"one\"\n[[platform.device]]\nname = \"alone\"\n"
      "[[platform]]\nname = \"two\"\n[[platform.device]]\n[[platform.device]]\ntype = \"cpu\"\n",
      [] {
        cl_uint platforms = 0;
        REQUIRE_CL(CL(clGetPlatformIDs)(0, nullptr, &platforms));
        std::string error;
        try {
          open_machine();
        } catch (const std::exception &failed) {
          error = failed.what();
        }
        return json{{"platforms", platforms}, {"error", error}};
      });
  CHECK(answer["platforms"] == 2);
  CHECK(answer["error"] == "clCreateContext");
}

TEST_CASE("an absent entry point is null by every way to it") {
  const json answer = in_child(
      "absent = [\"clCreateProgramWithIL\", \"clCreateProgramWithILKHR\"]\n"
      "[[platform]]\n[[platform.device]]\n",
      [] {
        cl_platform_id platform = nullptr;
        REQUIRE_CL(CL(clGetPlatformIDs)(1, &platform, nullptr));
        const auto address = CL(clGetExtensionFunctionAddressForPlatform);
        const auto *table = *reinterpret_cast<const cl_icd_dispatch **>(platform);
        return json{table->clCreateProgramWithIL == nullptr,
                    address(platform, "clCreateProgramWithILKHR") == nullptr,
                    table->clCreateProgramWithBinary != nullptr};
      });
  CHECK(answer == json{true, true, true});
}
