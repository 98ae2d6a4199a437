// The scripted driver as any OpenCL application sees it: through the loader, every handle
// that a query returns is one that the application knows.
#include <array>
#include <cstring>
#include <stdexcept>

#include <dlfcn.h>

#include <CL/cl_icd.h>
#include "application.hpp"
#include "kiln/kiln.h"
#include "support/catch.hpp"

using namespace kiln::test;
using nlohmann::json;

namespace {

// The loader's function by name.
template <typename Function>
Function loader(const char *name) {
  static void *const library = dlopen("libOpenCL.so.1", RTLD_NOW);
  void *address = library == nullptr ? nullptr : dlsym(library, name);
  if (address == nullptr) throw std::runtime_error(std::string(name) + " is not there");
  Function function;
  std::memcpy(&function, &address, sizeof(function));
  return function;
}
#define CL(name) loader<decltype(&::name)>(#name)

void require(bool condition, const std::string &what) {
  if (!condition) throw std::runtime_error(what);
}
#define REQUIRE_CL(call) require((call) == CL_SUCCESS, #call)

template <typename T, typename Query, typename Object>
T ask(Query query, Object object, cl_uint what) {
  T value{};
  require(query(object, what, sizeof(value), &value, nullptr) == CL_SUCCESS,
          "query " + std::to_string(what));
  return value;
}

struct Machine {
  std::vector<cl_platform_id> platforms;
  std::vector<cl_device_id> devices;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

// All platforms, the devices of the first, a context with them, and a queue on the last.
Machine open_machine() {
  Machine machine;
  cl_uint count = 0;
  REQUIRE_CL(CL(clGetPlatformIDs)(0, nullptr, &count));
  machine.platforms.resize(count);
  REQUIRE_CL(CL(clGetPlatformIDs)(count, machine.platforms.data(), nullptr));
  REQUIRE_CL(CL(clGetDeviceIDs)(machine.platforms[0], CL_DEVICE_TYPE_ALL, 0, nullptr, &count));
  machine.devices.resize(count);
  REQUIRE_CL(CL(clGetDeviceIDs)(machine.platforms[0], CL_DEVICE_TYPE_ALL, count,
                                machine.devices.data(), nullptr));
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(machine.platforms[0]), 0};
  cl_int code = CL_SUCCESS;
  machine.context =
      CL(clCreateContext)(properties, count, machine.devices.data(), nullptr, nullptr, &code);
  require(code == CL_SUCCESS, "clCreateContext");
  machine.queue = CL(clCreateCommandQueue)(machine.context, machine.devices.back(),
                                           CL_QUEUE_PROFILING_ENABLE, &code);
  require(code == CL_SUCCESS, "clCreateCommandQueue");
  return machine;
}

constexpr char kSource[] =
    "__kernel void twice(__global const uint *in, __global uint *out) {"
    "  const size_t i = get_global_id(0); out[i] = 2 * in[i]; }"
    "__kernel void flip(__read_only image2d_t in, __write_only image2d_t out) {"
    "  const int2 p = (int2)(get_global_id(0), get_global_id(1));"
    "  write_imagef(out, p, 1.0f - read_imagef(in, p)); }";

cl_program build(const Machine &machine) {
  const char *source = kSource;
  cl_int code = CL_SUCCESS;
  cl_program program = CL(clCreateProgramWithSource)(machine.context, 1, &source, nullptr, &code);
  require(program != nullptr && code == CL_SUCCESS, "clCreateProgramWithSource");
  REQUIRE_CL(CL(clBuildProgram)(program, 0, nullptr, "", nullptr, nullptr));
  return program;
}

std::vector<std::string> binaries_of(cl_program program, std::size_t devices) {
  std::vector<std::size_t> sizes(devices);
  REQUIRE_CL(CL(clGetProgramInfo)(program, CL_PROGRAM_BINARY_SIZES, devices * sizeof(std::size_t),
                                  sizes.data(), nullptr));
  std::vector<std::string> binaries;
  std::vector<char *> places;
  for (const std::size_t size : sizes) binaries.emplace_back(size, '\0');
  for (std::string &binary : binaries) places.push_back(binary.data());
  REQUIRE_CL(CL(clGetProgramInfo)(program, CL_PROGRAM_BINARIES, devices * sizeof(char *),
                                  places.data(), nullptr));
  return binaries;
}

// The code of giving a binary to the machine's first device, building included.
cl_int take_binary(const Machine &machine, const std::string &binary, std::string *after) {
  const std::size_t size = binary.size();
  const auto *bytes = reinterpret_cast<const unsigned char *>(binary.data());
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  cl_program program = CL(clCreateProgramWithBinary)(machine.context, 1, machine.devices.data(),
                                                     &size, &bytes, &status, &code);
  if (code != CL_SUCCESS) return code;
  require(status == CL_SUCCESS, "a status without a code");
  code = CL(clBuildProgram)(program, 0, nullptr, nullptr, nullptr, nullptr);
  if (code == CL_SUCCESS && after != nullptr) *after = binaries_of(program, 1)[0];
  return code;
}

std::string two_devices(const std::string &second) {
  return computing_device("") + "[[platform.device]]\nforward = true\nname = \"Second GPU\"\n" +
         second + "\n";
}

// Runs the work in a child and gives its answer; what it throws fails the test.
json in_child(const std::string &script, const std::function<json()> &work) {
  const ScriptedDriver driver(script);
  const auto result = driver.run(work);
  INFO(result.reason());
  REQUIRE(result.ok());
  return result.answer;
}

}  // namespace

TEST_CASE("every platform, device, context and program that a query returns is known") {
  if (!have_pocl()) return;
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
  if (!have_pocl()) return;
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
  if (!have_pocl()) return;
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

TEST_CASE("each device of a context has a binary of its own, which the other refuses") {
  if (!have_pocl()) return;
  const json answer = in_child(two_devices(""), [] {
    const Machine machine = open_machine();
    const auto binaries = binaries_of(build(machine), 2);
    std::string after;
    const cl_int own = take_binary(machine, binaries[0], &after);
    return json{{"own", own},
                {"verbatim", after == binaries[0]},
                {"others", take_binary(machine, binaries[1], nullptr)}};
  });
  CHECK(answer["own"] == CL_SUCCESS);
  CHECK(answer["verbatim"] == true);
  CHECK(answer["others"] == CL_INVALID_BINARY);
}

TEST_CASE("every truncation and flipped byte of a binary is noticed") {
  if (!have_pocl()) return;
  const json answer = in_child(computing_device(""), [] {
    const Machine machine = open_machine();
    const std::string good = binaries_of(build(machine), 1)[0];
    json accepted = json::array();
    for (std::size_t at = 0; at < good.size(); at += at < 200 ? 1 : 997) {
      std::string flipped = good;
      flipped[at] = static_cast<char>(flipped[at] ^ 1);
      if (take_binary(machine, flipped, nullptr) != CL_INVALID_BINARY) accepted.push_back(at);
      if (take_binary(machine, good.substr(0, at), nullptr) != CL_INVALID_BINARY) {
        accepted.push_back(at);
      }
    }
    return accepted;
  });
  CHECK(answer.empty());
}

TEST_CASE("a recompilation uses the options of the first build and changes the bytes") {
  if (!have_pocl()) return;
  const ScriptedDriver driver(computing_device("[platform.device.binary]\nmodel = \"one\""));
  const auto first = driver.run([] {
    const Machine machine = open_machine();
    const char *source = "__kernel void k(__global int *out) { out[0] = VALUE; }";
    cl_program program =
        CL(clCreateProgramWithSource)(machine.context, 1, &source, nullptr, nullptr);
    REQUIRE_CL(CL(clBuildProgram)(program, 0, nullptr, "-DVALUE=7", nullptr, nullptr));
    const std::string binary = binaries_of(program, 1)[0];
    return json::binary(std::vector<std::uint8_t>(binary.begin(), binary.end()));
  });
  INFO(first.reason());
  REQUIRE(first.ok());
  const auto &given = first.answer.get_binary();
  driver.rewrite(
      computing_device("[platform.device.binary]\nmodel = \"two\"\nother_model = \"recompile\""));
  const auto second = driver.run([&] {
    const std::string binary(given.begin(), given.end());
    std::string after;
    const cl_int code = take_binary(open_machine(), binary, &after);
    return json{{"code", code}, {"changed", after != binary && !after.empty()}};
  });
  INFO(second.reason());
  REQUIRE(second.ok());
  CHECK(second.answer["code"] == CL_SUCCESS);
  CHECK(second.answer["changed"] == true);
}

TEST_CASE("machine code that comes with the kernel is missing from a binary taken before") {
  if (!have_pocl()) return;
  const json answer = in_child(computing_device("[platform.device.binary]\nlate = true"), [] {
    const Machine machine = open_machine();
    cl_program program = build(machine);
    const std::string stub = binaries_of(program, 1)[0];
    cl_int code = CL_SUCCESS;
    CL(clCreateKernel)(program, "twice", &code);
    const std::string whole = binaries_of(program, 1)[0];
    std::string after_stub;
    std::string after_whole;
    take_binary(machine, stub, &after_stub);
    take_binary(machine, whole, &after_whole);
    return json{{"smaller", stub.size() < whole.size()},
                {"stub is native", after_stub == stub},
                {"whole is native", after_whole == whole}};
  });
  CHECK(answer["smaller"] == true);
  CHECK(answer["stub is native"] == false);
  CHECK(answer["whole is native"] == true);
}

TEST_CASE("a program that was released is no longer a program") {
  if (!have_pocl()) return;
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
