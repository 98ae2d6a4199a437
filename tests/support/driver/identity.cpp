// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/identity.hpp"

#include "tests/support/driver/faults.hpp"
#include "tests/support/driver/info_table.hpp"

namespace kiln::driver {
namespace {

// Queries that repeat another one in a second form. Where the script answers the first, the
// real driver's answer to the second would contradict it: it fails.
struct Repeated {
  cl_device_info query;
  cl_device_info of;
};
constexpr Repeated kRepeated[] = {
    {CL_DEVICE_NUMERIC_VERSION, CL_DEVICE_VERSION},
    {CL_DEVICE_EXTENSIONS_WITH_VERSION, CL_DEVICE_EXTENSIONS},
    {CL_DEVICE_ILS_WITH_VERSION, CL_DEVICE_IL_VERSION},
    {CL_DEVICE_OPENCL_C_ALL_VERSIONS, CL_DEVICE_OPENCL_C_VERSION},
    {CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, CL_DEVICE_OPENCL_C_VERSION},
};

Platform *platform_of(cl_platform_id id) {
  for (const auto &platform : platforms()) {
    if (reinterpret_cast<cl_platform_id>(platform.get()) == id) return platform.get();
  }
  return nullptr;
}

// The loader passes over a platform that does not name its extension.
std::string with_icd_extension(std::string text) {
  if (text.find("cl_khr_icd") != std::string::npos) return text;
  text.pop_back();
  return text + (text.empty() ? "" : " ") + "cl_khr_icd" + '\0';
}

const std::string *scripted(const Answers &answers, cl_uint query) {
  const auto found = answers.values.find(query);
  return found == answers.values.end() ? nullptr : &found->second;
}

cl_int answer_fallback(InfoTable table, cl_uint query, std::size_t size, void *value,
                       std::size_t *size_ret) {
  for (const InfoRow &row : table) {
    if (row.query != query || row.fallback == nullptr) continue;
    return answer(fallback_bytes(row), size, value, size_ret);
  }
  return CL_INVALID_VALUE;
}

bool contradicts_script(const Answers &answers, cl_device_info query) {
  for (const Repeated &repeated : kRepeated) {
    if (repeated.query == query && scripted(answers, repeated.of) != nullptr) return true;
  }
  return false;
}

cl_int own_device_info(Device *device, cl_device_info query, std::size_t size, void *value,
                       std::size_t *size_ret, bool *known) {
  *known = true;
  switch (query) {
    case CL_DEVICE_PLATFORM: return answer_value(device->platform, size, value, size_ret);
    case CL_DEVICE_TYPE: return answer_value(device->script->type, size, value, size_ret);
    case CL_DEVICE_REFERENCE_COUNT: return answer_value(cl_uint{1}, size, value, size_ret);
    case CL_DEVICE_PARENT_DEVICE: return answer_value(cl_device_id{nullptr}, size, value, size_ret);
    default: break;
  }
  *known = false;
  return CL_SUCCESS;
}

}  // namespace

cl_int CL_API_CALL get_platform_ids(cl_uint entries, cl_platform_id *ids, cl_uint *count) {
  if (const Fault *fault = enter(call_of("clGetPlatformIDs"))) return fault->code;
  const auto &all = platforms();
  if (count != nullptr) *count = static_cast<cl_uint>(all.size());
  for (std::size_t i = 0; ids != nullptr && i < entries && i < all.size(); ++i) {
    ids[i] = reinterpret_cast<cl_platform_id>(all[i].get());
  }
  return all.empty() ? CL_PLATFORM_NOT_FOUND_KHR : CL_SUCCESS;
}

cl_int CL_API_CALL get_platform_info(cl_platform_id id, cl_platform_info query, std::size_t size,
                                     void *value, std::size_t *size_ret) {
  Call call = call_of("clGetPlatformInfo");
  call.query = query;
  if (const Fault *fault = enter(call)) return fault->code;
  const Platform *platform = platform_of(id);
  if (platform == nullptr) return CL_INVALID_PLATFORM;
  const Answers &answers = platform->script->answers;
  if (answers.failing.count(query) != 0) return CL_INVALID_VALUE;
  const std::string *bytes = scripted(answers, query);
  if (bytes == nullptr) return answer_fallback(platform_table(), query, size, value, size_ret);
  return answer(query == CL_PLATFORM_EXTENSIONS ? with_icd_extension(*bytes) : *bytes, size, value,
                size_ret);
}

cl_int CL_API_CALL get_device_ids(cl_platform_id id, cl_device_type type, cl_uint entries,
                                  cl_device_id *ids, cl_uint *count) {
  if (const Fault *fault = enter(call_of("clGetDeviceIDs"))) return fault->code;
  const Platform *platform = platform_of(id);
  if (platform == nullptr) return CL_INVALID_PLATFORM;
  cl_uint found = 0;
  for (const auto &device : platform->devices) {
    const bool is_default = type == CL_DEVICE_TYPE_DEFAULT && found == 0;
    if (!is_default && (device->script->type & type) == 0) continue;
    if (ids != nullptr && found < entries) ids[found] = handle_of(device.get());
    ++found;
  }
  if (count != nullptr) *count = found;
  return found == 0 ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

cl_int CL_API_CALL get_device_info(cl_device_id id, cl_device_info query, std::size_t size,
                                   void *value, std::size_t *size_ret) {
  Device *device = device_of(id);
  if (device == nullptr) return CL_INVALID_DEVICE;
  Call call = call_of("clGetDeviceInfo");
  call.query = query;
  call.device = device;
  if (const Fault *fault = enter(call)) return fault->code;
  const Answers &answers = device->script->answers;
  if (answers.failing.count(query) != 0) return CL_INVALID_VALUE;
  if (const std::string *bytes = scripted(answers, query)) {
    return answer(*bytes, size, value, size_ret);
  }
  bool known = false;
  const cl_int code = own_device_info(device, query, size, value, size_ret, &known);
  if (known) return code;
  if (contradicts_script(answers, query)) return CL_INVALID_VALUE;
  if (device->raw != nullptr) {
    return real_driver()->table->clGetDeviceInfo(device->raw, query, size, value, size_ret);
  }
  return answer_fallback(device_table(), query, size, value, size_ret);
}

cl_int CL_API_CALL retain_device(cl_device_id device) {
  return device == nullptr ? CL_INVALID_DEVICE : CL_SUCCESS;
}

cl_int CL_API_CALL release_device(cl_device_id device) { return retain_device(device); }

}  // namespace kiln::driver
