#include "hints.hpp"

namespace kiln::runtime {
namespace {

// cl_qcom_perf_hint and cl_qcom_priority_hint, which Khronos' headers lack. Of both, the levels
// follow upon the property: high, normal, low.
constexpr cl_context_properties kPerformanceQcom = 0x40C2;
constexpr cl_context_properties kPriorityQcom = 0x40C9;

bool is_wish(kiln_level level) { return level >= KILN_LEVEL_LOW && level <= KILN_LEVEL_HIGH; }

// Adds a pair where there is a wish and the device has the extension; the bit if so, else 0.
template <typename Property>
unsigned add(const Capabilities &device, const char *extension, kiln_level level, Property name,
             Property value, unsigned bit, Property **end) {
  if (!is_wish(level) || !device.has_extension(extension)) return 0;
  *(*end)++ = name;
  *(*end)++ = value;
  return bit;
}

// High, medium and low are 1, 2 and 4 in both of Khronos' extensions.
cl_queue_properties khr_level(kiln_level level) {
  return is_wish(level) ? cl_queue_properties{1} << (KILN_LEVEL_HIGH - level) : 0;
}

}  // namespace

unsigned add_context_hints(const Capabilities &device, const ContextHints &hints,
                           cl_context_properties *properties) {
  const auto value = [](cl_context_properties name, kiln_level level) {
    return name + 1 + (KILN_LEVEL_HIGH - level);
  };
  unsigned added =
      add(device, "cl_qcom_perf_hint", hints.performance, kPerformanceQcom,
          value(kPerformanceQcom, hints.performance), KILN_HINT_PERFORMANCE, &properties);
  added |= add(device, "cl_qcom_priority_hint", hints.priority, kPriorityQcom,
               value(kPriorityQcom, hints.priority), KILN_HINT_PRIORITY, &properties);
  *properties = 0;
  return added;
}

unsigned add_queue_hints(const Capabilities &device, const QueueHints &hints,
                         cl_queue_properties *properties) {
  unsigned added = add<cl_queue_properties>(device, "cl_khr_priority_hints", hints.priority,
                                            CL_QUEUE_PRIORITY_KHR, khr_level(hints.priority),
                                            KILN_HINT_PRIORITY, &properties);
  added |= add<cl_queue_properties>(device, "cl_khr_throttle_hints", hints.throttle,
                                    CL_QUEUE_THROTTLE_KHR, khr_level(hints.throttle),
                                    KILN_HINT_THROTTLE, &properties);
  *properties = 0;
  return added;
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
