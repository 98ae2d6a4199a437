// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/fake/opencl.hpp"

#include <mutex>

#include "tests/runtime/fake/objects.hpp"

namespace kiln::test {

Fake the_fake;
std::atomic<long> fake_live{0};

namespace {

constexpr cl_device_info kDeviceComputeCapabilityMajorNv = 0x4000;
constexpr cl_device_info kDeviceComputeCapabilityMinorNv = 0x4001;

char platform_object;
char device_object;

cl_int CL_API_CALL get_platforms(cl_uint count, cl_platform_id *out, cl_uint *total) {
  if (total != nullptr) *total = 1;
  if (count > 0) *out = reinterpret_cast<cl_platform_id>(&platform_object);
  return CL_SUCCESS;
}

cl_int CL_API_CALL platform_info(cl_platform_id, cl_platform_info what, std::size_t size, void *out,
                                 std::size_t *size_out) {
  if (what == CL_PLATFORM_NAME) return answer("Fake platform", size, out, size_out);
  if (what == CL_PLATFORM_HOST_TIMER_RESOLUTION) {
    return answer(&the_fake.timer_resolution, sizeof(cl_ulong), size, out, size_out);
  }
  return CL_INVALID_VALUE;
}

cl_int CL_API_CALL get_devices(cl_platform_id, cl_device_type, cl_uint count, cl_device_id *out,
                               cl_uint *total) {
  if (total != nullptr) *total = 1;
  if (count > 0) *out = reinterpret_cast<cl_device_id>(&device_object);
  return CL_SUCCESS;
}

cl_int answer_size(std::size_t value, std::size_t size, void *out, std::size_t *size_out) {
  return value == 0 ? CL_INVALID_VALUE : answer(&value, sizeof(value), size, out, size_out);
}

cl_int CL_API_CALL device_info(cl_device_id, cl_device_info what, std::size_t size, void *out,
                               std::size_t *size_out) {
  const Fake &f = the_fake;
  const cl_bool compiler = f.compiler ? CL_TRUE : CL_FALSE;
  const cl_bool non_uniform = f.non_uniform_work_groups ? CL_TRUE : CL_FALSE;
  const cl_bool unified = f.unified_memory ? CL_TRUE : CL_FALSE;
  const std::size_t sides[3] = {1024, 1024, 64};
  const cl_name_version versions[] = {f.command_buffer, f.mutable_dispatch};
  void *platform = &platform_object;
  switch (what) {
    case CL_DEVICE_PLATFORM: return answer(&platform, sizeof(platform), size, out, size_out);
    case CL_DEVICE_NAME: return answer(f.device_name, size, out, size_out);
    case CL_DRIVER_VERSION: return answer(f.driver_version, size, out, size_out);
    case CL_DEVICE_VERSION: return answer(f.device_version, size, out, size_out);
    case CL_DEVICE_EXTENSIONS: return answer(f.extensions, size, out, size_out);
    case CL_DEVICE_IL_VERSION: return answer(f.il_version, size, out, size_out);
    case CL_DEVICE_ADDRESS_BITS: return answer(&f.address_bits, 4, size, out, size_out);
    case CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT:
      return answer(&non_uniform, sizeof(non_uniform), size, out, size_out);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
      return answer(&unified, sizeof(unified), size, out, size_out);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
      return answer(versions, sizeof(versions), size, out, size_out);
    case CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR:
      return answer(&f.mutable_capabilities, sizeof(cl_bitfield), size, out, size_out);
    case CL_DEVICE_PAGE_SIZE_QCOM: return answer_size(f.page_size_qcom, size, out, size_out);
    case CL_DEVICE_IMAGE_PITCH_ALIGNMENT:
      return answer(&f.pitch_alignment, sizeof(cl_uint), size, out, size_out);
    case CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT:
      return answer(&f.base_alignment, sizeof(cl_uint), size, out, size_out);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
      return answer(&f.part_alignment, sizeof(cl_uint), size, out, size_out);
    case CL_DEVICE_EXT_MEM_PADDING_IN_BYTES_QCOM:
      return answer_size(f.padding_qcom, size, out, size_out);
    case CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR:
      return answer(&f.command_buffer_capabilities, sizeof(cl_bitfield), size, out, size_out);
    case CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR:
      return answer(&f.command_buffer_queue, sizeof(cl_bitfield), size, out, size_out);
    case kDeviceComputeCapabilityMajorNv:
    case kDeviceComputeCapabilityMinorNv: {
      const bool is_major = what == kDeviceComputeCapabilityMajorNv;
      const cl_uint number = is_major ? f.compute_capability / 10 : f.compute_capability % 10;
      if (f.compute_capability == 0) return CL_INVALID_VALUE;
      return answer(&number, sizeof(number), size, out, size_out);
    }
    case CL_DEVICE_LOCAL_MEM_SIZE:
      if (f.local_memory == 0) return CL_INVALID_VALUE;
      return answer(&f.local_memory, sizeof(f.local_memory), size, out, size_out);
    case CL_DEVICE_SVM_CAPABILITIES:
      if (f.svm == 0) return CL_INVALID_VALUE;
      return answer(&f.svm, sizeof(f.svm), size, out, size_out);
    case CL_DEVICE_COMPILER_AVAILABLE: return answer(&compiler, 4, size, out, size_out);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return answer(sides, sizeof(sides), size, out, size_out);
    default: return CL_INVALID_VALUE;
  }
}

cl_context CL_API_CALL create_context(
    const cl_context_properties *properties, cl_uint, const cl_device_id *,
    void(CL_CALLBACK *)(const char *, const void *, std::size_t, void *), void *, cl_int *code) {
  the_fake.context_properties.clear();
  while (*properties != 0) the_fake.context_properties.push_back(*properties++);
  *code = the_fake.context_properties.size() > 2 ? the_fake.context_hints_code : CL_SUCCESS;
  return make<cl_context>();
}

cl_int CL_API_CALL retain_context(cl_context context) {
  ++object(context).references;
  return CL_SUCCESS;
}

cl_program make_program(Script *script, const void *bytes, std::size_t size, cl_int *code) {
  *code = script->create_code;
  if (!script->create_object) return nullptr;
  return make<cl_program>(script, std::string(static_cast<const char *>(bytes), size));
}

cl_program CL_API_CALL from_binary(cl_context, cl_uint, const cl_device_id *,
                                   const std::size_t *sizes, const unsigned char **binaries,
                                   cl_int *status, cl_int *code) {
  *status = the_fake.binary.binary_status;
  return make_program(&the_fake.binary, binaries[0], sizes[0], code);
}

cl_program CL_API_CALL from_il(cl_context, const void *bytes, std::size_t size, cl_int *code) {
  return make_program(&the_fake.il, bytes, size, code);
}

cl_program CL_API_CALL from_source(cl_context, cl_uint, const char **texts,
                                   const std::size_t *sizes, cl_int *code) {
  return make_program(&the_fake.source, texts[0], sizes[0], code);
}

cl_int CL_API_CALL build(cl_program program, cl_uint, const cl_device_id *, const char *options,
                         void(CL_CALLBACK *)(cl_program, void *), void *) {
  Script &script = *object(program).script;
  {
    static std::mutex mutex;  // threads may load at once
    const std::lock_guard<std::mutex> lock(mutex);
    script.built_with = options == nullptr ? std::nullopt : std::optional<std::string>(options);
    ++script.builds;
  }
  if (script.on_build) script.on_build();
  return script.build_code;
}

cl_int CL_API_CALL build_info(cl_program program, cl_device_id, cl_program_build_info what,
                              std::size_t size, void *out, std::size_t *size_out) {
  const Script &script = *object(program).script;
  if (what == CL_PROGRAM_BUILD_STATUS) return answer(&script.build_status, 4, size, out, size_out);
  if (what == CL_PROGRAM_BINARY_TYPE && script.binary_type) {
    return answer(&*script.binary_type, 4, size, out, size_out);
  }
  if (what != CL_PROGRAM_BUILD_LOG) return CL_INVALID_VALUE;
  if (script.log_size == 0) return answer(script.log, size, out, size_out);
  if (size_out != nullptr) *size_out = script.log_size;
  return CL_SUCCESS;
}

cl_int CL_API_CALL program_info(cl_program program, cl_program_info what, std::size_t size,
                                void *out, std::size_t *size_out) {
  const Object &made = object(program);
  const std::string binary = made.script->binary.value_or(made.bytes);
  const cl_uint one = 1;
  const std::size_t bytes = binary.size();
  void *device = &device_object;
  switch (what) {
    case CL_PROGRAM_NUM_DEVICES: return answer(&one, sizeof(one), size, out, size_out);
    case CL_PROGRAM_DEVICES: return answer(&device, sizeof(device), size, out, size_out);
    case CL_PROGRAM_BINARY_SIZES: return answer(&bytes, sizeof(bytes), size, out, size_out);
    case CL_PROGRAM_BINARIES:
      if (made.script->on_asked) made.script->on_asked();
      if (bytes != 0) std::memcpy(*static_cast<unsigned char **>(out), binary.data(), bytes);
      return CL_SUCCESS;
    default: return CL_INVALID_VALUE;
  }
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char *, cl_int *code) {
  Script *script = object(program).script;
  *code = script->kernel_code;
  return script->kernel_object ? make<cl_kernel>(script) : nullptr;
}

cl_int CL_API_CALL kernel_info(cl_kernel kernel, cl_kernel_info what, std::size_t size, void *out,
                               std::size_t *size_out) {
  const Script &script = *object(kernel).script;
  if (script.kernel_info_code != CL_SUCCESS) return script.kernel_info_code;
  if (what == CL_KERNEL_NUM_ARGS) return answer(&script.arguments, 4, size, out, size_out);
  return CL_INVALID_VALUE;
}

cl_int CL_API_CALL work_group_info(cl_kernel, cl_device_id, cl_kernel_work_group_info what,
                                   std::size_t size, void *out, std::size_t *size_out) {
  if (what != CL_KERNEL_WORK_GROUP_SIZE) return CL_INVALID_VALUE;
  return answer(&the_fake.work_group_size, sizeof(std::size_t), size, out, size_out);
}

void *CL_API_CALL extension_function(cl_platform_id, const char *name) {
  if (void *recording = fake_recording_function(name)) return recording;
  if (void *vendor = fake_vendor_function(name)) return vendor;
  if (std::strcmp(name, "clCreateProgramWithILKHR") != 0) return nullptr;
  return the_fake.has_khr_il_function ? reinterpret_cast<void *>(from_il) : nullptr;
}

cl_int CL_API_CALL not_expected() { return CL_INVALID_OPERATION; }

void *look_up(void *, const char *name) {
  static const FakeTable table = [] {
    FakeTable made = {
        KILN_FAKE(clGetPlatformIDs, get_platforms),
        KILN_FAKE(clGetPlatformInfo, platform_info),
        KILN_FAKE(clGetDeviceIDs, get_devices),
        KILN_FAKE(clGetDeviceInfo, device_info),
        KILN_FAKE(clCreateContext, create_context),
        KILN_FAKE(clRetainContext, retain_context),
        KILN_FAKE(clReleaseContext, release<cl_context>),
        KILN_FAKE(clCreateProgramWithBinary, from_binary),
        KILN_FAKE(clCreateProgramWithIL, from_il),
        KILN_FAKE(clCreateProgramWithSource, from_source),
        KILN_FAKE(clBuildProgram, build),
        KILN_FAKE(clGetProgramBuildInfo, build_info),
        KILN_FAKE(clGetProgramInfo, program_info),
        KILN_FAKE(clReleaseProgram, release<cl_program>),
        KILN_FAKE(clCreateKernel, create_kernel),
        KILN_FAKE(clGetKernelInfo, kernel_info),
        KILN_FAKE(clGetKernelWorkGroupInfo, work_group_info),
        KILN_FAKE(clReleaseKernel, release<cl_kernel>),
        KILN_FAKE(clGetExtensionFunctionAddressForPlatform, extension_function),
    };
    add_fake_launching(&made);
    add_fake_vendor(&made);
    return made;
  }();
  if (std::strcmp(name, "clCreateProgramWithIL") == 0 && !the_fake.has_il_function) return nullptr;
  if (std::strstr(name, "WithProperties") != nullptr && std::strstr(name, "Queue") == nullptr &&
      !the_fake.properties_functions) {
    return nullptr;
  }
  const auto found = table.find(name);
  return found == table.end() ? reinterpret_cast<void *>(not_expected) : found->second;
}

}  // namespace

Fake &fake() {
  the_fake.live = fake_live;
  return the_fake;
}

void reset_fake() {
  the_fake = Fake();
  fake_live = 0;
}

std::shared_ptr<const runtime::OpenCL> fake_table() {
  auto table = std::make_shared<runtime::OpenCL>();
  (void)runtime::fill_opencl_table(look_up, nullptr, table.get());
  return table;
}

}  // namespace kiln::test
