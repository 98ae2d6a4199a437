// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/contexts.hpp"

#include <map>
#include <mutex>

#include "tests/support/driver/faults.hpp"
#include "tests/support/driver/identity.hpp"

namespace kiln::driver {
namespace {

cl_int fault_code(const Fault &fault) {
  return fault.action == Action::null ? CL_SUCCESS : fault.code;
}

using Print = void(CL_CALLBACK *)(const char *, std::size_t, std::size_t, void *);

struct Printer {
  Print call = nullptr;
  void *data = nullptr;
};

std::mutex printers_mutex;
std::map<cl_context, Printer> printers;

bool has_printf(const Device &device) {
  const auto &values = device.script->answers.values;
  const auto found = values.find(CL_DEVICE_EXTENSIONS);
  return found != values.end() && found->second.find("cl_arm_printf") != std::string::npos;
}

// The properties of cl_arm_printf, which no real driver gets.
bool is_print(cl_context_properties name) {
  return name == CL_PRINTF_CALLBACK_ARM || name == CL_PRINTF_BUFFERSIZE_ARM;
}

cl_context_properties value_of(const cl_context_properties *properties,
                               cl_context_properties name) {
  for (; properties != nullptr && *properties != 0; properties += 2) {
    if (properties[0] == name) return properties[1];
  }
  return 0;
}

// The application's properties for the real driver: its own platform.
std::vector<cl_context_properties> real_properties(const cl_context_properties *properties) {
  std::vector<cl_context_properties> real;
  for (; properties != nullptr && *properties != 0; properties += 2) {
    if (is_print(properties[0])) continue;
    real.push_back(properties[0]);
    real.push_back(properties[0] == CL_CONTEXT_PLATFORM
                       ? reinterpret_cast<cl_context_properties>(real_driver()->platform)
                       : properties[1]);
  }
  real.push_back(0);
  return real;
}

}  // namespace

void print(cl_command_queue queue) {
  const std::string &text = device_of(queue)->script->prints;
  if (text.empty()) return;
  cl_context context = nullptr;
  real_driver()->table->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context,
                                              nullptr);
  const std::lock_guard<std::mutex> lock(printers_mutex);
  const Printer printer = printers[context];
  if (printer.call != nullptr) printer.call(text.data(), text.size(), 1, printer.data);
}

cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                      const cl_device_id *ids, ContextNotify notify, void *data,
                                      cl_int *code_ret) {
  Call call = call_of("clCreateContext");
  if (count != 0) call.device = device_of(ids[0]);
  if (const Fault *fault = enter(call)) {
    return done<cl_context>(nullptr, fault_code(*fault), code_ret);
  }
  std::vector<Device *> devices;
  for (cl_uint i = 0; i < count; ++i) {
    devices.push_back(device_of(ids[i]));
    if (devices.back()->raw == nullptr) {
      return done<cl_context>(nullptr, CL_DEVICE_NOT_AVAILABLE, code_ret);
    }
  }
  if (devices.empty()) return done<cl_context>(nullptr, CL_INVALID_VALUE, code_ret);
  const auto callback = value_of(properties, CL_PRINTF_CALLBACK_ARM);
  const bool prints = callback != 0 || value_of(properties, CL_PRINTF_BUFFERSIZE_ARM) != 0;
  if (prints && !has_printf(*devices.front())) {
    return done<cl_context>(nullptr, CL_INVALID_PROPERTY, code_ret);
  }
  const auto real = real_properties(properties);
  const auto raw = to_real(devices);
  cl_int code = CL_SUCCESS;
  cl_context context = real_driver()->table->clCreateContext(
      real.data(), static_cast<cl_uint>(raw.size()), raw.data(), notify, data, &code);
  stamp(context);
  if (context != nullptr) {
    remember(context, std::move(devices));
    const std::lock_guard<std::mutex> lock(printers_mutex);
    printers[context] = {reinterpret_cast<Print>(callback), data};
  }
  return done(context, code, code_ret);
}

cl_context CL_API_CALL create_context_from_type(const cl_context_properties *properties,
                                                cl_device_type type, ContextNotify notify,
                                                void *data, cl_int *code_ret) {
  cl_platform_id platform = nullptr;
  for (const auto *p = properties; p != nullptr && *p != 0; p += 2) {
    if (*p == CL_CONTEXT_PLATFORM) platform = reinterpret_cast<cl_platform_id>(p[1]);
  }
  if (platform == nullptr && get_platform_ids(1, &platform, nullptr) != CL_SUCCESS) {
    return done<cl_context>(nullptr, CL_INVALID_PLATFORM, code_ret);
  }
  cl_uint count = 0;
  const cl_int code = get_device_ids(platform, type, 0, nullptr, &count);
  if (code != CL_SUCCESS) return done<cl_context>(nullptr, code, code_ret);
  std::vector<cl_device_id> ids(count);
  get_device_ids(platform, type, count, ids.data(), nullptr);
  return create_context(properties, count, ids.data(), notify, data, code_ret);
}

cl_int CL_API_CALL get_context_info(cl_context context, cl_context_info query, std::size_t size,
                                    void *value, std::size_t *size_ret) {
  if (const Fault *fault = enter(call_of("clGetContextInfo"))) return fault->code;
  const std::vector<Device *> devices = devices_of(context);
  switch (query) {
    case CL_CONTEXT_NUM_DEVICES:
      return answer_value(static_cast<cl_uint>(devices.size()), size, value, size_ret);
    case CL_CONTEXT_DEVICES:
      return answer(std::string(reinterpret_cast<const char *>(devices.data()),
                                devices.size() * sizeof(Device *)),
                    size, value, size_ret);
    case CL_CONTEXT_PROPERTIES: {
      if (devices.empty()) return CL_INVALID_CONTEXT;
      const cl_context_properties own[] = {
          CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(devices.front()->platform),
          0};
      return answer(std::string(reinterpret_cast<const char *>(own), sizeof(own)), size, value,
                    size_ret);
    }
    default: break;
  }
  return real_driver()->table->clGetContextInfo(context, query, size, value, size_ret);
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties,
                                          cl_int *code_ret) {
  Call call = call_of("clCreateCommandQueue");
  call.device = device_of(device);
  if (const Fault *fault = enter(call)) {
    return done<cl_command_queue>(nullptr, fault_code(*fault), code_ret);
  }
  cl_command_queue queue =
      real_driver()->table->clCreateCommandQueue(context, to_real(device), properties, code_ret);
  stamp(queue);
  if (queue != nullptr) remember(queue, device_of(device));
  return queue;
}

cl_command_queue CL_API_CALL create_queue_with_properties(cl_context context, cl_device_id device,
                                                          const cl_queue_properties *properties,
                                                          cl_int *code_ret) {
  Call call = call_of("clCreateCommandQueueWithProperties");
  call.device = device_of(device);
  if (const Fault *fault = enter(call)) {
    return done<cl_command_queue>(nullptr, fault_code(*fault), code_ret);
  }
  cl_command_queue queue = real_driver()->table->clCreateCommandQueueWithProperties(
      context, to_real(device), properties, code_ret);
  stamp(queue);
  if (queue != nullptr) remember(queue, device_of(device));
  return queue;
}

cl_int CL_API_CALL get_queue_info(cl_command_queue queue, cl_command_queue_info query,
                                  std::size_t size, void *value, std::size_t *size_ret) {
  if (const Fault *fault = enter(call_of("clGetCommandQueueInfo"))) return fault->code;
  if (query == CL_QUEUE_DEVICE) return answer_value(device_of(queue), size, value, size_ret);
  return real_driver()->table->clGetCommandQueueInfo(queue, query, size, value, size_ret);
}

}  // namespace kiln::driver
