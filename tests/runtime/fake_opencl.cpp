#include "fake_opencl.hpp"

#include <atomic>
#include <cstring>
#include <map>

namespace kiln::test {
namespace {

Fake the_fake;
char platform_object;
char device_object;
std::atomic<long> live{0};

// Stands behind every handle of the fake.
struct Object {
  Script *script = nullptr;
  std::string bytes;  // of a program; memory of a buffer
  std::atomic<int> references{1};
};

template <typename T>
T make(Script *script = nullptr, std::string bytes = {}) {
  ++live;
  auto *object = new Object;
  object->script = script;
  object->bytes = std::move(bytes);
  return reinterpret_cast<T>(object);
}

template <typename T>
Object &object(T handle) {
  return *reinterpret_cast<Object *>(handle);
}

template <typename T>
cl_int CL_API_CALL release(T handle) {
  if (--object(handle).references > 0) return CL_SUCCESS;
  --live;
  delete &object(handle);
  return CL_SUCCESS;
}

cl_int answer(const void *value, std::size_t bytes, std::size_t size, void *out,
              std::size_t *size_out) {
  if (size_out != nullptr) *size_out = bytes;
  if (out == nullptr) return CL_SUCCESS;
  if (size < bytes) return CL_INVALID_VALUE;
  std::memcpy(out, value, bytes);
  return CL_SUCCESS;
}

cl_int answer(const std::string &text, std::size_t size, void *out, std::size_t *size_out) {
  return answer(text.c_str(), text.size() + 1, size, out, size_out);
}

cl_int CL_API_CALL get_platforms(cl_uint count, cl_platform_id *out, cl_uint *total) {
  if (total != nullptr) *total = 1;
  if (count > 0) *out = reinterpret_cast<cl_platform_id>(&platform_object);
  return CL_SUCCESS;
}

cl_int CL_API_CALL platform_info(cl_platform_id, cl_platform_info what, std::size_t size, void *out,
                                 std::size_t *size_out) {
  if (what == CL_PLATFORM_NAME) return answer("Fake platform", size, out, size_out);
  return CL_INVALID_VALUE;
}

cl_int CL_API_CALL get_devices(cl_platform_id, cl_device_type, cl_uint count, cl_device_id *out,
                               cl_uint *total) {
  if (total != nullptr) *total = 1;
  if (count > 0) *out = reinterpret_cast<cl_device_id>(&device_object);
  return CL_SUCCESS;
}

cl_int CL_API_CALL device_info(cl_device_id, cl_device_info what, std::size_t size, void *out,
                               std::size_t *size_out) {
  const Fake &f = the_fake;
  const cl_bool compiler = f.compiler ? CL_TRUE : CL_FALSE;
  const std::size_t sides[3] = {1024, 1024, 64};
  void *platform = &platform_object;
  switch (what) {
    case CL_DEVICE_PLATFORM: return answer(&platform, sizeof(platform), size, out, size_out);
    case CL_DEVICE_NAME: return answer("Fake device", size, out, size_out);
    case CL_DRIVER_VERSION: return answer(f.driver_version, size, out, size_out);
    case CL_DEVICE_VERSION: return answer(f.device_version, size, out, size_out);
    case CL_DEVICE_EXTENSIONS: return answer(f.extensions, size, out, size_out);
    case CL_DEVICE_IL_VERSION: return answer(f.il_version, size, out, size_out);
    case CL_DEVICE_ADDRESS_BITS: return answer(&f.address_bits, 4, size, out, size_out);
    case CL_DEVICE_COMPILER_AVAILABLE: return answer(&compiler, 4, size, out, size_out);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return answer(sides, sizeof(sides), size, out, size_out);
    default: return CL_INVALID_VALUE;
  }
}

cl_context CL_API_CALL create_context(const cl_context_properties *, cl_uint, const cl_device_id *,
                                      void(CL_CALLBACK *)(const char *, const void *, std::size_t,
                                                          void *),
                                      void *, cl_int *code) {
  *code = CL_SUCCESS;
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
  script.built_with = options == nullptr ? std::nullopt : std::optional<std::string>(options);
  ++script.builds;
  if (script.on_build) script.on_build();
  return script.build_code;
}

cl_int CL_API_CALL build_info(cl_program program, cl_device_id, cl_program_build_info what,
                              std::size_t size, void *out, std::size_t *size_out) {
  const Script &script = *object(program).script;
  if (what == CL_PROGRAM_BUILD_STATUS) return answer(&script.build_status, 4, size, out, size_out);
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

cl_command_queue CL_API_CALL create_queue(cl_context, cl_device_id, cl_command_queue_properties,
                                          cl_int *code) {
  *code = CL_SUCCESS;
  return make<cl_command_queue>();
}

cl_mem CL_API_CALL create_buffer(cl_context, cl_mem_flags, std::size_t size, void *, cl_int *code) {
  *code = CL_SUCCESS;
  return make<cl_mem>(nullptr, std::string(size, '\0'));
}

cl_mem CL_API_CALL create_image(cl_context, cl_mem_flags, const cl_image_format *,
                                const cl_image_desc *description, void *, cl_int *code) {
  *code = CL_SUCCESS;
  return make<cl_mem>(nullptr,
                      std::string(description->image_width * description->image_height * 4, '\0'));
}

void *map(cl_mem memory, cl_int *code) {
  *code = the_fake.map_code;
  return the_fake.map_address ? object(memory).bytes.data() : nullptr;
}

void *CL_API_CALL map_buffer(cl_command_queue, cl_mem memory, cl_bool, cl_map_flags, std::size_t,
                             std::size_t, cl_uint, const cl_event *, cl_event *, cl_int *code) {
  return map(memory, code);
}

void *CL_API_CALL map_image(cl_command_queue, cl_mem memory, cl_bool, cl_map_flags,
                            const std::size_t *, const std::size_t *region, std::size_t *pitch,
                            std::size_t *, cl_uint, const cl_event *, cl_event *, cl_int *code) {
  *pitch = region[0] * 4;
  return map(memory, code);
}

cl_int CL_API_CALL unmap(cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *) {
  return CL_SUCCESS;
}

cl_int CL_API_CALL set_argument(cl_kernel, cl_uint index, std::size_t, const void *) {
  return index < 2 ? CL_SUCCESS : CL_INVALID_ARG_INDEX;
}

cl_int CL_API_CALL launch(cl_command_queue, cl_kernel, cl_uint dimensions, const std::size_t *,
                          const std::size_t *global, const std::size_t *local, cl_uint,
                          const cl_event *, cl_event *event) {
  the_fake.global.assign(global, global + dimensions);
  the_fake.local.assign(local, local + dimensions);
  if (the_fake.launch_code != CL_SUCCESS) return the_fake.launch_code;
  *event = the_fake.event_object ? make<cl_event>() : nullptr;
  return CL_SUCCESS;
}

cl_int CL_API_CALL done(cl_command_queue) { return CL_SUCCESS; }
cl_int CL_API_CALL wait(cl_uint, const cl_event *) { return CL_SUCCESS; }

void *CL_API_CALL extension_function(cl_platform_id, const char *) {
  return the_fake.has_khr_il_function ? reinterpret_cast<void *>(from_il) : nullptr;
}

cl_int CL_API_CALL not_expected() { return CL_INVALID_OPERATION; }

void *look_up(void *, const char *name) {
  static const std::map<std::string, void *> table = {
#define KILN_FAKE(name, function) {#name, reinterpret_cast<void *>(function)}
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
      KILN_FAKE(clSetKernelArg, set_argument),
      KILN_FAKE(clReleaseKernel, release<cl_kernel>),
      KILN_FAKE(clCreateCommandQueue, create_queue),
      KILN_FAKE(clReleaseCommandQueue, release<cl_command_queue>),
      KILN_FAKE(clCreateBuffer, create_buffer),
      KILN_FAKE(clCreateImage, create_image),
      KILN_FAKE(clReleaseMemObject, release<cl_mem>),
      KILN_FAKE(clEnqueueMapBuffer, map_buffer),
      KILN_FAKE(clEnqueueMapImage, map_image),
      KILN_FAKE(clEnqueueUnmapMemObject, unmap),
      KILN_FAKE(clEnqueueNDRangeKernel, launch),
      KILN_FAKE(clFlush, done),
      KILN_FAKE(clFinish, done),
      KILN_FAKE(clWaitForEvents, wait),
      KILN_FAKE(clReleaseEvent, release<cl_event>),
      KILN_FAKE(clGetExtensionFunctionAddressForPlatform, extension_function),
#undef KILN_FAKE
  };
  if (std::strcmp(name, "clCreateProgramWithIL") == 0 && !the_fake.has_il_function) return nullptr;
  const auto found = table.find(name);
  return found == table.end() ? reinterpret_cast<void *>(not_expected) : found->second;
}

}  // namespace

Fake &fake() {
  the_fake.live = live;
  return the_fake;
}

void reset_fake() {
  the_fake = Fake();
  live = 0;
}

std::shared_ptr<const runtime::OpenCL> fake_table() {
  auto table = std::make_shared<runtime::OpenCL>();
  runtime::fill_opencl_table(look_up, nullptr, table.get());
  return table;
}

}  // namespace kiln::test
