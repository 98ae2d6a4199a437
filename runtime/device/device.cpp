// SPDX-License-Identifier: Apache-2.0
// Lists platforms and devices, opens a device, and creates contexts. Queries through clGet*Info,
// with limits, and parses the lists and versions in the answers.
#include "runtime/device/device.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <pthread.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::runtime {

namespace {

// A larger size is a driver's mistake, not a string.
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

constexpr cl_device_info kDeviceIlVersion = 0x105B;
constexpr cl_device_info kDeviceMaxSubGroups = 0x105C;
constexpr cl_device_info kDeviceNonUniformWorkGroups = 0x1065;
constexpr cl_device_info kDeviceUuid = 0x106A;
constexpr cl_device_info kDriverUuid = 0x106B;
constexpr cl_device_info kDeviceOpenclCFeatures = 0x106F;
constexpr cl_device_info kDeviceSpirvInstructionSets = 0x12B9;
constexpr cl_device_info kDeviceSpirvExtensions = 0x12BA;
constexpr cl_device_info kDeviceSpirvCapabilities = 0x12BB;
constexpr cl_device_info kDeviceComputeCapabilityMajorNv = 0x4000;
constexpr cl_device_info kDeviceComputeCapabilityMinorNv = 0x4001;
constexpr cl_device_info kDeviceIpVersionIntel = 0x4250;
constexpr std::size_t kUuidBytes = 16;

// Queries a string by any clGet*Info call, its size first.
template <typename Query, typename Object>
std::optional<std::string> query_string(Query query, Object object, cl_uint what) {
  std::size_t size = 0;
  if (query(object, what, 0, nullptr, &size) != CL_SUCCESS || size > kMaxBytes) {
    return std::nullopt;
  }
  std::string value(size, '\0');
  std::size_t written = size;
  if (size != 0 && query(object, what, size, &value[0], &written) != CL_SUCCESS) {
    return std::nullopt;
  }
  if (written < size) value.resize(written);
  while (!value.empty() && value.back() == '\0') value.pop_back();
  return value;
}

// Queries a fixed-size value of a device; if the query fails, returns false and leaves `value`
// unchanged.
template <typename T>
bool query_value(const OpenCL &cl, cl_device_id device, cl_device_info what, T *value) {
  T answer{};
  if (cl.clGetDeviceInfo(device, what, sizeof(answer), &answer, nullptr) != CL_SUCCESS) {
    return false;
  }
  *value = answer;
  return true;
}

bool query_flag(const OpenCL &cl, cl_device_id device, cl_device_info what) {
  cl_bool flag = CL_FALSE;
  return query_value(cl, device, what, &flag) && flag != CL_FALSE;
}

// Returns an id without leading zeros, as vendors write their ids: "0x8086".
std::string hex_id(cl_uint value) {
  const std::string digits = packs::hex64(value);
  const std::size_t first = digits.find_first_not_of('0');
  return "0x" + (first == std::string::npos ? "0" : digits.substr(first));
}

std::string hash_of(const std::vector<std::string> &extensions) {
  std::string joined;
  for (const std::string &extension : extensions) {
    if (!joined.empty()) joined += ' ';
    joined += extension;
  }
  return packs::hex64(packs::xxh3(joined.data(), joined.size()));
}

bool has(const std::vector<std::string> &sorted, const char *name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

struct StringQuery {
  Field field;
  cl_uint what;
};

constexpr StringQuery kPlatformStrings[] = {
    {Field::platform_name, CL_PLATFORM_NAME},
    {Field::platform_vendor, CL_PLATFORM_VENDOR},
    {Field::platform_version, CL_PLATFORM_VERSION},
};

constexpr StringQuery kDeviceStrings[] = {
    {Field::device_name, CL_DEVICE_NAME},
    {Field::device_vendor, CL_DEVICE_VENDOR},
    {Field::device_version, CL_DEVICE_VERSION},
    {Field::opencl_c_version, CL_DEVICE_OPENCL_C_VERSION},
    {Field::device_profile, CL_DEVICE_PROFILE},
    {Field::driver_version, CL_DRIVER_VERSION},
};

void set_strings(const OpenCL &cl, cl_platform_id platform, cl_device_id device,
                 Identity *identity) {
  for (const StringQuery &query : kPlatformStrings) {
    auto value = query_string(cl.clGetPlatformInfo, platform, query.what);
    if (value) identity->set(query.field, std::move(*value));
  }
  for (const StringQuery &query : kDeviceStrings) {
    auto value = query_string(cl.clGetDeviceInfo, device, query.what);
    if (value) identity->set(query.field, std::move(*value));
  }
}

void set_uuid(const OpenCL &cl, cl_device_id device, cl_device_info what, Field field,
              Identity *identity) {
  unsigned char bytes[kUuidBytes] = {};
  if (cl.clGetDeviceInfo(device, what, sizeof(bytes), bytes, nullptr) != CL_SUCCESS) return;
  identity->set(field, packs::hex(bytes, sizeof(bytes)));
}

void set_compute_capability(const OpenCL &cl, cl_device_id device, Identity *identity) {
  cl_uint major = 0;
  cl_uint minor = 0;
  if (!query_value(cl, device, kDeviceComputeCapabilityMajorNv, &major) ||
      !query_value(cl, device, kDeviceComputeCapabilityMinorNv, &minor)) {
    return;
  }
  std::string text = packs::concat({packs::decimal(major), ".", packs::decimal(minor)});
  if (parse_compute_capability(text) == 0) return;
  identity->set(Field::compute_capability, std::move(text));
}

// Queries the info that only some devices have, by their extension lists.
void set_extended(const OpenCL &cl, cl_device_id device, const std::vector<std::string> &extensions,
                  Identity *identity) {
  const unsigned version = parse_opencl_version(identity->text(Field::device_version));
  if (version >= 301 || has(extensions, "cl_khr_device_uuid")) {
    set_uuid(cl, device, kDeviceUuid, Field::device_uuid, identity);
    set_uuid(cl, device, kDriverUuid, Field::driver_uuid, identity);
  }
  cl_uint ip_version = 0;
  if (has(extensions, "cl_intel_device_attribute_query") &&
      query_value(cl, device, kDeviceIpVersionIntel, &ip_version)) {
    identity->set(Field::ip_version, "0x" + packs::hex64(ip_version).substr(8));
  }
  if (has(extensions, "cl_nv_device_attribute_query")) {
    set_compute_capability(cl, device, identity);
  }
  if (has(extensions, "cl_khr_il_program") || version >= 201) {
    auto value = query_string(cl.clGetDeviceInfo, device, kDeviceIlVersion);
    if (value) identity->set(Field::il_version, std::move(*value));
  }
}

bool has_subgroups(const OpenCL &cl, cl_device_id device, unsigned version,
                   const Capabilities &capabilities) {
  if (capabilities.has_extension("cl_khr_subgroups")) return true;
  if (version < 201) return false;
  cl_uint most = 0;
  return query_value(cl, device, kDeviceMaxSubGroups, &most) && most > 0;
}

bool has_non_uniform_work_groups(const OpenCL &cl, cl_device_id device, unsigned version) {
  if (version < 300) return version >= 200;
  return query_flag(cl, device, kDeviceNonUniformWorkGroups);
}

bool has_fp64(const OpenCL &cl, cl_device_id device, const Capabilities &capabilities) {
  if (capabilities.has_extension("cl_khr_fp64")) return true;
  cl_device_fp_config config = 0;
  return query_value(cl, device, CL_DEVICE_DOUBLE_FP_CONFIG, &config) && config != 0;
}

// Sets the first three dimensions; a device may report more, and some fail if asked for fewer.
void set_work_item_sizes(const OpenCL &cl, cl_device_id device, Capabilities *capabilities) {
  std::size_t bytes = 0;
  if (cl.clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, 0, nullptr, &bytes) != CL_SUCCESS ||
      bytes > kMaxBytes) {
    return;
  }
  std::vector<std::size_t> sizes(bytes / sizeof(std::size_t));
  if (sizes.empty() ||
      cl.clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes.size() * sizeof(std::size_t),
                         sizes.data(), nullptr) != CL_SUCCESS) {
    return;
  }
  for (std::size_t i = 0; i < 3 && i < sizes.size(); ++i) {
    capabilities->max_work_item_sizes[i] = sizes[i];
  }
}

// Parses a version such as "1.2" at `begin` to the number in a SPIR-V module's header; 0 for any
// other text.
std::uint32_t parse_spirv_version(std::string_view word, std::size_t begin) {
  std::uint32_t parts[2] = {0, 0};
  std::size_t part = 0;
  bool digit_seen = false;
  for (std::size_t i = begin; i < word.size(); ++i) {
    const char c = word[i];
    if (c == '.' && part == 0 && digit_seen) {
      part = 1;
      digit_seen = false;
    } else if (c >= '0' && c <= '9' && parts[part] < 10) {
      parts[part] = parts[part] * 10 + static_cast<std::uint32_t>(c - '0');
      digit_seen = true;
    } else {
      return 0;
    }
  }
  return part == 1 && digit_seen ? parts[0] << 16 | parts[1] << 8 : 0;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Takes the first word off `*text`; empty if it has no word.
std::string_view take_word(std::string_view *text) {
  std::size_t begin = 0;
  while (begin < text->size() && is_space((*text)[begin])) ++begin;
  std::size_t end = begin;
  while (end < text->size() && !is_space((*text)[end])) ++end;
  const std::string_view word = text->substr(begin, end - begin);
  text->remove_prefix(end);
  return word;
}

// Returns Capabilities::features. The device's list is 4 bytes of a version, then a name in 64
// bytes, again and again.
std::string query_features(const OpenCL &cl, cl_device_id device) {
  const auto list = query_string(cl.clGetDeviceInfo, device, kDeviceOpenclCFeatures);
  std::string features(1, ' ');
  for (std::size_t at = 4; list && at < list->size(); at += 64 + 4) {
    features += list->c_str() + at;
    features += ' ';
  }
  return features;
}

// Adds an answer to Capabilities::il_support. Its items are numbers, or names that the driver owns.
void add_il_support(const OpenCL &cl, cl_device_id device, cl_device_info what,
                    std::string *words) {
  // Zero bytes at its end are cut off: no kernel needs capability 0, and no name is at NULL.
  const auto list = query_string(cl.clGetDeviceInfo, device, what);
  const bool numbers = what == kDeviceSpirvCapabilities;
  const std::size_t size = numbers ? sizeof(cl_uint) : sizeof(const char *);
  for (std::size_t at = 0; list && at < list->size(); at += size) {
    cl_uint number = 0;
    const char *name = nullptr;
    void *const item = numbers ? static_cast<void *>(&number) : static_cast<void *>(&name);
    std::memcpy(item, list->data() + at, std::min(size, list->size() - at));
    if (name != nullptr) {
      *words += name;
    } else if (numbers) {
      *words += packs::decimal(number);
    }
    *words += ' ';
  }
}

// Limit of platforms, and of devices per platform: a larger number is a driver's mistake.
constexpr cl_uint kMaxCount = 4096;

// PoCL 3.1 kills the process when two threads are the first to ask it for its devices. Not a
// std::mutex: with some standard libraries a global one has a destructor.
pthread_mutex_t asking_for_devices = PTHREAD_MUTEX_INITIALIZER;

struct AskingForDevices {
  AskingForDevices() { pthread_mutex_lock(&asking_for_devices); }
  ~AskingForDevices() { pthread_mutex_unlock(&asking_for_devices); }
};

struct RetainingDevice : Device {
  Handle<cl_device_id> sub_device;
};

// Takes a reference to a sub-device; takes none to any other device.
Handle<cl_device_id> retain_sub_device(const OpenCL &cl, cl_device_id id, unsigned version) {
  cl_device_id parent = nullptr;
  if (version < 102 || cl.clRetainDevice == nullptr || cl.clReleaseDevice == nullptr ||
      cl.clGetDeviceInfo(id, CL_DEVICE_PARENT_DEVICE, sizeof(parent), &parent, nullptr) !=
          CL_SUCCESS ||
      parent == nullptr || cl.clRetainDevice(id) != CL_SUCCESS) {
    return {};
  }
  return {id, cl.clReleaseDevice};
}

}  // namespace

Identity query_identity(const OpenCL &cl, cl_platform_id platform, cl_device_id device,
                        std::vector<std::string> *extensions) {
  Identity identity;
  set_strings(cl, platform, device, &identity);
  cl_uint number = 0;
  if (query_value(cl, device, CL_DEVICE_VENDOR_ID, &number)) {
    identity.set(Field::device_vendor_id, hex_id(number));
  }
  if (query_value(cl, device, CL_DEVICE_ADDRESS_BITS, &number)) {
    identity.set(Field::address_bits, packs::decimal(number));
  }
  const auto text = query_string(cl.clGetDeviceInfo, device, CL_DEVICE_EXTENSIONS);
  extensions->clear();
  if (text) {
    *extensions = parse_extensions(*text);
    identity.set(Field::extensions_hash, hash_of(*extensions));
  }
  set_extended(cl, device, *extensions, &identity);
  cl_device_type type = 0;
  if (query_value(cl, device, CL_DEVICE_TYPE, &type) && (type & CL_DEVICE_TYPE_CPU) != 0) {
    // Not for a GPU: a virtual machine takes 20 us to answer.
    const char *instructions = instruction_set();
    if (instructions != nullptr) identity.set(Field::instruction_set, instructions);
  }
  return identity;
}

Capabilities query_capabilities(const OpenCL &cl, cl_device_id device, const Identity &identity,
                                std::vector<std::string> extensions) {
  const unsigned version = parse_opencl_version(identity.text(Field::device_version));
  Capabilities result;
  result.extensions = std::move(extensions);
  result.il_versions = parse_il_versions(identity.text(Field::il_version));
  result.images = query_flag(cl, device, CL_DEVICE_IMAGE_SUPPORT);
  result.fp16 = result.has_extension("cl_khr_fp16");
  result.fp64 = has_fp64(cl, device, result);
  result.subgroups = has_subgroups(cl, device, version, result);
  result.opencl_3 = version >= 300;
  result.opencl_3_1 = version >= 301;
  result.integer_dot_product =
      result.opencl_3_1 || result.has_extension("cl_khr_integer_dot_product");
  result.unified_memory = query_flag(cl, device, CL_DEVICE_HOST_UNIFIED_MEMORY);
  result.compiler = query_flag(cl, device, CL_DEVICE_COMPILER_AVAILABLE);
  result.non_uniform_work_groups = has_non_uniform_work_groups(cl, device, version);
  if (result.opencl_3) result.features = query_features(cl, device);
  if (result.opencl_3_1 || result.has_extension("cl_khr_spirv_queries")) {
    std::string answers(1, ' ');
    add_il_support(cl, device, kDeviceSpirvCapabilities, &answers);
    if (answers.size() > 1) {
      add_il_support(cl, device, kDeviceSpirvExtensions, &answers);
      add_il_support(cl, device, kDeviceSpirvInstructionSets, &answers);
      result.il_support = std::move(answers);
    }
  }
  cl_uint bits = 0;
  if (query_value(cl, device, CL_DEVICE_ADDRESS_BITS, &bits)) result.address_bits = bits;
  result.compute_capability = parse_compute_capability(identity.text(Field::compute_capability));
  query_value(cl, device, CL_DEVICE_MAX_WORK_GROUP_SIZE, &result.max_work_group_size);
  set_work_item_sizes(cl, device, &result);
  cl_ulong local_memory = 0;
  if (query_value(cl, device, CL_DEVICE_LOCAL_MEM_SIZE, &local_memory)) {
    result.local_memory = local_memory;
  }
  return result;
}

std::vector<std::string> parse_extensions(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::string_view word = take_word(&text); !word.empty(); word = take_word(&text)) {
    names.push_back(word);
  }
  packs::sort_names(&names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return std::vector<std::string>(names.begin(), names.end());
}

std::vector<std::uint32_t> parse_il_versions(std::string_view text) {
  constexpr std::string_view kPrefix = "SPIR-V_";
  std::vector<std::uint32_t> versions;
  for (std::string_view word = take_word(&text); !word.empty(); word = take_word(&text)) {
    if (word.substr(0, kPrefix.size()) != kPrefix) continue;
    const std::uint32_t version = parse_spirv_version(word, kPrefix.size());
    const auto place = std::lower_bound(versions.begin(), versions.end(), version);
    const bool known = place != versions.end() && *place == version;
    if (version != 0 && !known) versions.insert(place, version);
  }
  return versions;
}

Status list_devices(const OpenCL &cl, std::vector<DeviceId> *out) {
  const AskingForDevices one_at_a_time;
  cl_uint count = 0;
  cl_int code = cl.clGetPlatformIDs(0, nullptr, &count);
  if (code != CL_SUCCESS || count == 0) {
    return {Code::no_device, code,
            packs::concat({"no OpenCL platform: clGetPlatformIDs returned ", cl_error_text(code),
                           " and ", packs::decimal(count), " platforms"})};
  }
  count = std::min(count, kMaxCount);
  std::vector<cl_platform_id> platforms(count);
  code = cl.clGetPlatformIDs(count, platforms.data(), nullptr);
  if (code != CL_SUCCESS) return {Code::no_device, code, "clGetPlatformIDs failed"};
  for (cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS) {
      continue;
    }
    devices = std::min(devices, kMaxCount);
    std::vector<cl_device_id> ids(devices);
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr) !=
        CL_SUCCESS) {
      continue;
    }
    for (cl_device_id id : ids) out->push_back({platform, id});
  }
  if (!out->empty()) return {};
  return Status::error(Code::no_device,
                       {"no OpenCL device: ", packs::decimal(count), " platforms have none"});
}

std::shared_ptr<const Device> open_device(std::shared_ptr<const OpenCL> cl, DeviceId id) {
  auto device = std::make_shared<RetainingDevice>();
  device->platform = id.platform;
  device->id = id.device;
  std::vector<std::string> extensions;
  device->identity = query_identity(*cl, id.platform, id.device, &extensions);
  device->sub_device = retain_sub_device(
      *cl, id.device, parse_opencl_version(device->identity.text(Field::device_version)));
  device->description = describe(device->identity);
  device->capabilities =
      query_capabilities(*cl, id.device, device->identity, std::move(extensions));
  device->capabilities.profile = device->description.profile;
  device->cl = std::move(cl);
  return device;
}

Status create_context(const Device &device, Handle<cl_context> *out, const ContextHints &hints,
                      unsigned *applied) {
  cl_context_properties properties[kContextProperties] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device.platform), 0};
  unsigned added = add_context_hints(device.capabilities, hints, &properties[2]);
  for (;;) {
    cl_int code = CL_SUCCESS;
    Handle<cl_context> made(
        device.cl->clCreateContext(properties, 1, &device.id, nullptr, nullptr, &code),
        device.cl->clReleaseContext);
    if (made && code == CL_SUCCESS) {
      *out = std::move(made);
      if (applied != nullptr) *applied = added;
      return {};
    }
    if (added == 0) return cl_failure("clCreateContext", code);
    added = 0;
    properties[2] = 0;
  }
}

Status read_timers(const Device &device, cl_ulong *at_device, cl_ulong *at_host) {
  const OpenCL &cl = *device.cl;
  cl_ulong resolution = 0;  // 0: the platform has no host timer
  if (parse_opencl_version(device.identity.text(Field::device_version)) < 201 ||
      cl.clGetDeviceAndHostTimer == nullptr ||
      cl.clGetPlatformInfo(device.platform, CL_PLATFORM_HOST_TIMER_RESOLUTION, sizeof(resolution),
                           &resolution, nullptr) != CL_SUCCESS ||
      resolution == 0) {
    return Status::error(Code::requirement, "the device has no clGetDeviceAndHostTimer");
  }
  const cl_int code = cl.clGetDeviceAndHostTimer(device.id, at_device, at_host);
  return code == CL_SUCCESS ? Status() : cl_failure("clGetDeviceAndHostTimer", code);
}

std::string device_label(std::string_view name, std::string_view driver_version) {
  return packs::concat({name, " (driver ", driver_version, ")"});
}

}  // namespace kiln::runtime
