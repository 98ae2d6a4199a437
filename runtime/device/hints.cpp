// SPDX-License-Identifier: Apache-2.0
// The vendors' properties for contexts and queues, added where the device has the extension.
#include "runtime/device/hints.hpp"

#include "runtime/opencl/error.hpp"

namespace kiln::runtime {
namespace {

// Properties of cl_qcom_perf_hint and cl_qcom_priority_hint, which Khronos' headers lack. In both,
// the numbers after the property are its levels high, normal and low.
constexpr cl_context_properties kPerformanceQcom = 0x40C2;
constexpr cl_context_properties kPriorityQcom = 0x40C9;

// Returns `bit` if a level is asked for and the device has the extension, else 0.
unsigned taken(const Capabilities &device, std::string_view extension, kiln_level level,
               unsigned bit) {
  const bool is_level = level >= KILN_LEVEL_LOW && level <= KILN_LEVEL_HIGH;
  return is_level && device.has_extension(extension) ? bit : 0;
}

// Appends a property and its value.
template <typename Property>
void add(Property **end, Property name, Property value) {
  *(*end)++ = name;
  *(*end)++ = value;
}

// Returns the value for a level of either property.
cl_context_properties level_of(cl_context_properties property, kiln_level level) {
  return property + 1 + (KILN_LEVEL_HIGH - level);
}

}  // namespace

unsigned add_context_hints(const Capabilities &device, const ContextHints &hints,
                           cl_context_properties *properties) {
  const unsigned bits =
      taken(device, "cl_qcom_perf_hint", hints.performance, KILN_HINT_PERFORMANCE) |
      taken(device, "cl_qcom_priority_hint", hints.priority, KILN_HINT_PRIORITY);
  const auto pair = [&](cl_context_properties name, kiln_level level) {
    add(&properties, name, level_of(name, level));
  };
  if ((bits & KILN_HINT_PERFORMANCE) != 0) pair(kPerformanceQcom, hints.performance);
  if ((bits & KILN_HINT_PRIORITY) != 0) pair(kPriorityQcom, hints.priority);
  *properties = 0;
  return bits;
}

packs::Status set_performance(const OpenCL &cl, cl_platform_id platform, const Capabilities &device,
                              cl_context context, kiln_level level) {
  using Function = cl_int(CL_API_CALL *)(cl_context, cl_uint);
  const auto lacks = [](const char *what) {
    return packs::Status::error(packs::Code::requirement, what);
  };
  if (!device.has_extension("cl_qcom_perf_hint")) {
    return lacks("the device has no cl_qcom_perf_hint");
  }
  const auto set = extension_function<Function>(cl, platform, "clSetPerfHintQCOM");
  if (set == nullptr) return lacks("the driver has no clSetPerfHintQCOM");
  const cl_int code = set(context, static_cast<cl_uint>(level_of(kPerformanceQcom, level)));
  return code == CL_SUCCESS ? packs::Status() : cl_failure("clSetPerfHintQCOM", code);
}

unsigned add_queue_hints(const Capabilities &device, const QueueHints &hints,
                         cl_queue_properties *properties) {
  const unsigned bits = taken(device, "cl_khr_priority_hints", hints.priority, KILN_HINT_PRIORITY) |
                        taken(device, "cl_khr_throttle_hints", hints.throttle, KILN_HINT_THROTTLE);
  // High, medium and low are 1, 2 and 4 in both extensions.
  const auto pair = [&](cl_queue_properties name, kiln_level level) {
    add(&properties, name, cl_queue_properties{1} << (KILN_LEVEL_HIGH - level));
  };
  if ((bits & KILN_HINT_PRIORITY) != 0) pair(CL_QUEUE_PRIORITY_KHR, hints.priority);
  if ((bits & KILN_HINT_THROTTLE) != 0) pair(CL_QUEUE_THROTTLE_KHR, hints.throttle);
  *properties = 0;
  return bits;
}

decltype(&::clCreateCommandQueueWithProperties) create_queue_with_properties(
    const OpenCL &cl, cl_platform_id platform, const std::string &device_version,
    const Capabilities &device) {
  if (parse_opencl_version(device_version) >= 200 &&
      cl.clCreateCommandQueueWithProperties != nullptr) {
    return cl.clCreateCommandQueueWithProperties;
  }
  if (!device.has_extension("cl_khr_create_command_queue")) return nullptr;
  return extension_function<decltype(&::clCreateCommandQueueWithProperties)>(
      cl, platform, "clCreateCommandQueueWithPropertiesKHR");
}

}  // namespace kiln::runtime
