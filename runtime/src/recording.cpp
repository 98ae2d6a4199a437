#include "recording.hpp"

#include <cstring>

#include "sequence.hpp"

namespace kiln::runtime {
namespace {

constexpr cl_device_info kDeviceExtensionsWithVersion = 0x1060;

Error lacks(const std::string &what) {
  return failure(KILN_ERROR_OPENCL, "the device has no " + what);
}

template <typename Function>
bool find(const Device &device, const char *name, Function *out) {
  *out = extension_function<Function>(*device.cl, device.platform, name);
  return *out != nullptr;
}

// "0.9" of "0.9.4", as the device has the extension; 0 if it does not say.
cl_version extension_version(const Device &device, const char *extension) {
  std::size_t bytes = 0;
  if (device.cl->clGetDeviceInfo(device.id, kDeviceExtensionsWithVersion, 0, nullptr, &bytes) !=
      CL_SUCCESS) {
    return 0;
  }
  std::vector<cl_name_version> rows(bytes / sizeof(cl_name_version));
  if (rows.empty() || device.cl->clGetDeviceInfo(device.id, kDeviceExtensionsWithVersion,
                                                 rows.size() * sizeof(rows[0]), rows.data(),
                                                 nullptr) != CL_SUCCESS) {
    return 0;
  }
  for (const cl_name_version &row : rows) {
    if (std::strncmp(row.name, extension, sizeof(row.name)) == 0) return row.version;
  }
  return 0;
}

cl_bitfield device_bits(const Device &device, cl_device_info what) {
  cl_bitfield bits = 0;
  const cl_int code = device.cl->clGetDeviceInfo(device.id, what, sizeof(bits), &bits, nullptr);
  return code == CL_SUCCESS ? bits : 0;
}

Error check_command_buffer(const Device &device, cl_command_queue_properties properties) {
  if (!device.capabilities.has_extension(CL_KHR_COMMAND_BUFFER_EXTENSION_NAME)) {
    return lacks(CL_KHR_COMMAND_BUFFER_EXTENSION_NAME);
  }
  const cl_version version = extension_version(device, CL_KHR_COMMAND_BUFFER_EXTENSION_NAME);
  if (CL_VERSION_MAJOR(version) != 0 || CL_VERSION_MINOR(version) != 9) {
    return lacks("cl_khr_command_buffer 0.9, but " + std::to_string(CL_VERSION_MAJOR(version)) +
                 "." + std::to_string(CL_VERSION_MINOR(version)));
  }
  const cl_bitfield required =
      device_bits(device, CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR);
  if ((required & ~properties) != 0) {
    return failure(KILN_ERROR_OPENCL,
                   "command buffers need queue properties " + std::to_string(required));
  }
  return {};
}

Error find_functions(const Device &device, CommandBufferFunctions *out) {
  const bool found = find(device, "clCreateCommandBufferKHR", &out->create) &&
                     find(device, "clCommandNDRangeKernelKHR", &out->add) &&
                     find(device, "clFinalizeCommandBufferKHR", &out->finalize) &&
                     find(device, "clEnqueueCommandBufferKHR", &out->enqueue) &&
                     find(device, "clReleaseCommandBufferKHR", &out->release);
  return found ? Error{} : lacks("functions of cl_khr_command_buffer");
}

Error find_functions(const Device &device, RecordableFunctions *out) {
  const bool found = find(device, "clNewRecordingQCOM", &out->create) &&
                     find(device, "clEndRecordingQCOM", &out->end) &&
                     find(device, "clEnqueueRecordingQCOM", &out->enqueue) &&
                     find(device, "clReleaseRecordingQCOM", &out->release);
  return found ? Error{} : lacks("functions of cl_qcom_recordable_queues");
}

// The extension takes this one property and no other beside it.
Error create_recordable_queue(const Loader &loader, Handle<cl_command_queue> *out) {
  const Device &device = *loader.device;
  const auto create = create_queue_with_properties(*device.cl, device.platform,
                                                   device.identity.text(Field::device_version),
                                                   device.capabilities);
  const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, kQueueRecordableQcom, 0};
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = create != nullptr
                               ? create(loader.context.get(), device.id, list, &code)
                               : device.cl->clCreateCommandQueue(loader.context.get(), device.id,
                                                                 kQueueRecordableQcom, &code);
  *out = Handle<cl_command_queue>(queue, device.cl->clReleaseCommandQueue);
  if (!*out || code != CL_SUCCESS) return cl_failure("creating a recordable queue", code);
  return {};
}

}  // namespace

Error record_command_buffer(const Loader &loader, cl_command_queue queue,
                            cl_command_queue_properties properties, const std::vector<Step> &steps,
                            Recording *out) {
  const Device &device = *loader.device;
  CommandBufferFunctions call;
  if (Error e = check_command_buffer(device, properties); !e.ok()) return e;
  if (Error e = find_functions(device, &call); !e.ok()) return e;
  // So that a run need not wait for the one before.
  const cl_command_buffer_properties_khr list[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                   CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
  const bool simultaneous = (device_bits(device, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR) &
                             CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) != 0;
  cl_int code = CL_SUCCESS;
  Handle<cl_command_buffer_khr> made(call.create(1, &queue, simultaneous ? list : nullptr, &code),
                                     call.release);
  if (!made || code != CL_SUCCESS) return cl_failure("clCreateCommandBufferKHR", code);
  for (const Step &step : steps) {
    code = call.add(made.get(), nullptr, nullptr, step.kernel.get(), step.plan.dimensions, nullptr,
                    step.plan.padded.data(), step.plan.local.data(), 0, nullptr, nullptr, nullptr);
    if (code != CL_SUCCESS) return cl_failure("clCommandNDRangeKernelKHR", code);
  }
  code = call.finalize(made.get());
  if (code != CL_SUCCESS) return cl_failure("clFinalizeCommandBufferKHR", code);
  out->kind = KILN_RECORDING_COMMAND_BUFFER;
  out->buffer = std::move(made);
  out->enqueue_buffer = call.enqueue;
  return {};
}

Error record_on_recordable_queue(const Loader &loader, const std::vector<Step> &steps,
                                 Recording *out) {
  const Device &device = *loader.device;
  if (!device.capabilities.has_extension("cl_qcom_recordable_queues")) {
    return lacks("cl_qcom_recordable_queues");
  }
  RecordableFunctions call;
  Handle<cl_command_queue> queue;
  if (Error e = find_functions(device, &call); !e.ok()) return e;
  if (Error e = create_recordable_queue(loader, &queue); !e.ok()) return e;
  cl_int code = CL_SUCCESS;
  Handle<RecordingQcom> made(call.create(queue.get(), &code), call.release);
  if (!made || code != CL_SUCCESS) return cl_failure("clNewRecordingQCOM", code);
  for (const Step &step : steps) {
    code = device.cl->clEnqueueNDRangeKernel(queue.get(), step.kernel.get(), step.plan.dimensions,
                                             nullptr, step.plan.padded.data(),
                                             step.plan.local.data(), 0, nullptr, nullptr);
    if (code != CL_SUCCESS) return cl_failure("recording clEnqueueNDRangeKernel", code);
  }
  code = call.end(made.get());
  if (code != CL_SUCCESS) return cl_failure("clEndRecordingQCOM", code);
  out->kind = KILN_RECORDING_RECORDABLE_QUEUE;
  out->recordable = std::move(queue);
  out->qcom = std::move(made);
  out->enqueue_qcom = call.enqueue;
  return {};
}

}  // namespace kiln::runtime
