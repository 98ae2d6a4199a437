// SPDX-License-Identifier: Apache-2.0
// What is made of a driver's answers about its devices, against entry points inside the test.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/device/device.hpp"
#include "runtime/dropin/kiln_dropin.h"
#include "tests/support/catch.hpp"

using namespace kiln::runtime;
namespace packs = kiln::packs;

namespace {

// The driver: an answer for each number; what has none fails.
struct Driver {
  std::map<cl_uint, std::string> device;
  std::map<cl_uint, std::string> platform;
  std::map<cl_uint, std::size_t> sizes;  // what it says of a size before, if that is another one
  std::vector<cl_platform_id> platforms;
  cl_int platforms_code = CL_SUCCESS;
  std::map<cl_platform_id, std::vector<cl_device_id>> devices;  // without a row: an error
  cl_platform_id refuses_list = nullptr;                        // gives the number alone
  int retained = 0;
  int released = 0;
};

Driver driver;

template <typename T>
std::string bytes_of(std::vector<T> values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

std::string number(cl_uint value) { return bytes_of<cl_uint>({value}); }

template <typename Handle>
Handle handle(std::uintptr_t value) {
  return reinterpret_cast<Handle>(value);
}

cl_int give(const std::map<cl_uint, std::string> &answers, cl_uint what, std::size_t room,
            void *out, std::size_t *size) {
  const auto found = answers.find(what);
  if (found == answers.end()) return CL_INVALID_VALUE;
  const std::string &bytes = found->second;
  const auto other = driver.sizes.find(what);
  const bool is_other = out == nullptr && other != driver.sizes.end();
  if (size != nullptr) *size = is_other ? other->second : bytes.size();
  if (out == nullptr) return CL_SUCCESS;
  if (room < bytes.size()) return CL_INVALID_VALUE;
  std::memcpy(out, bytes.data(), bytes.size());
  return CL_SUCCESS;
}

cl_int CL_API_CALL device_info(cl_device_id, cl_device_info what, std::size_t room, void *out,
                               std::size_t *size) {
  return give(driver.device, what, room, out, size);
}

cl_int CL_API_CALL platform_info(cl_platform_id, cl_platform_info what, std::size_t room, void *out,
                                 std::size_t *size) {
  return give(driver.platform, what, room, out, size);
}

cl_int CL_API_CALL get_platforms(cl_uint room, cl_platform_id *out, cl_uint *count) {
  if (count != nullptr) *count = static_cast<cl_uint>(driver.platforms.size());
  for (cl_uint i = 0; i < room; ++i) out[i] = driver.platforms.at(i);
  return driver.platforms_code;
}

cl_int CL_API_CALL get_devices(cl_platform_id platform, cl_device_type, cl_uint room,
                               cl_device_id *out, cl_uint *count) {
  const auto found = driver.devices.find(platform);
  if (found == driver.devices.end()) return CL_DEVICE_NOT_FOUND;
  if (count != nullptr) *count = static_cast<cl_uint>(found->second.size());
  if (room > 0 && platform == driver.refuses_list) return CL_OUT_OF_HOST_MEMORY;
  for (cl_uint i = 0; i < room; ++i) out[i] = found->second.at(i);
  return CL_SUCCESS;
}

cl_int CL_API_CALL retain(cl_device_id) {
  ++driver.retained;
  return CL_SUCCESS;
}

cl_int CL_API_CALL release(cl_device_id) {
  ++driver.released;
  return CL_SUCCESS;
}

cl_int CL_API_CALL timers(cl_device_id, cl_ulong *at_device, cl_ulong *at_host) {
  *at_device = 1;
  *at_host = 2;
  return CL_SUCCESS;
}

OpenCL table() {
  OpenCL cl{};
  cl.clGetPlatformIDs = get_platforms;
  cl.clGetPlatformInfo = platform_info;
  cl.clGetDeviceIDs = get_devices;
  cl.clGetDeviceInfo = device_info;
  cl.clRetainDevice = retain;
  cl.clReleaseDevice = release;
  cl.clGetDeviceAndHostTimer = timers;
  return cl;
}

// A healthy driver that says nothing.
struct Quiet {
  Quiet() { driver = Driver(); }

  OpenCL cl = table();
  std::vector<std::string> extensions;

  Identity identity() { return query_identity(cl, nullptr, nullptr, &extensions); }
  Capabilities capabilities() {
    const Identity now = identity();
    return query_capabilities(cl, nullptr, now, extensions);
  }
  // With that version and these extensions alone.
  Quiet &says(const std::string &version, const std::string &list = "") {
    driver.device[CL_DEVICE_VERSION] = "OpenCL " + version + " x";
    driver.device[CL_DEVICE_EXTENSIONS] = list;
    return *this;
  }
};

constexpr cl_uint kIlVersion = 0x105B;
constexpr cl_uint kMaxSubGroups = 0x105C;
constexpr cl_uint kNonUniform = 0x1065;
constexpr cl_uint kUuid = 0x106A;
constexpr cl_uint kFeatures = 0x106F;
constexpr cl_uint kMajor = 0x4000;
constexpr cl_uint kMinor = 0x4001;
constexpr cl_uint kIpVersion = 0x4250;
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

}  // namespace

TEST_CASE_METHOD(Quiet, "a driver that says nothing has no facts and no capabilities",
                 "[queries]") {
  CHECK(identity().facts().empty());
  const Capabilities nothing = capabilities();
  const Capabilities fresh;
  CHECK(nothing.extensions.empty());
  CHECK(nothing.il_versions.empty());
  CHECK_FALSE(nothing.images);
  CHECK_FALSE(nothing.fp64);
  CHECK_FALSE(nothing.subgroups);
  CHECK_FALSE(nothing.compiler);
  CHECK_FALSE(nothing.unified_memory);
  CHECK_FALSE(nothing.non_uniform_work_groups);
  CHECK_FALSE(nothing.opencl_3);
  CHECK(nothing.address_bits == fresh.address_bits);
  CHECK(nothing.local_memory == fresh.local_memory);
  CHECK(nothing.max_work_group_size == fresh.max_work_group_size);
  CHECK(std::equal(std::begin(fresh.max_work_item_sizes), std::end(fresh.max_work_item_sizes),
                   std::begin(nothing.max_work_item_sizes)));
  CHECK(nothing.compute_capability == 0);
}

TEST_CASE_METHOD(Quiet, "a string has at most a mebibyte, and ends before its zeros", "[queries]") {
  const auto name = [&] { return identity()[Field::device_name]; };
  driver.device[CL_DEVICE_NAME] = std::string("GPU\0\0", 5);
  CHECK(name() == "GPU");
  driver.device[CL_DEVICE_NAME] = "";
  CHECK(name() == "");
  driver.device[CL_DEVICE_NAME] = std::string(kMaxBytes, 'x');
  CHECK(name() == std::string(kMaxBytes, 'x'));
  driver.device[CL_DEVICE_NAME] += 'x';
  CHECK_FALSE(name());
  // A driver that gives less than it said, and one that gives more.
  driver.device[CL_DEVICE_NAME] = "GPU";
  driver.sizes[CL_DEVICE_NAME] = 10;
  CHECK(name() == "GPU");
  driver.sizes[CL_DEVICE_NAME] = 2;
  CHECK_FALSE(name());
}

TEST_CASE_METHOD(Quiet, "numbers are written as vendors write them", "[queries]") {
  driver.device[CL_DEVICE_VENDOR_ID] = number(0x8086);
  driver.device[CL_DEVICE_ADDRESS_BITS] = number(32);
  CHECK(identity()[Field::device_vendor_id] == "0x8086");
  CHECK(identity()[Field::address_bits] == "32");
  CHECK(capabilities().address_bits == 32);
  driver.device[CL_DEVICE_VENDOR_ID] = number(0);
  CHECK(identity()[Field::device_vendor_id] == "0x0");
  says("1.2", "cl_intel_device_attribute_query");
  CHECK_FALSE(identity()[Field::ip_version]);
  driver.device[kIpVersion] = number(0x90000);
  CHECK(identity()[Field::ip_version] == "0x00090000");
  says("1.2");
  CHECK_FALSE(identity()[Field::ip_version]);
}

TEST_CASE_METHOD(Quiet,
                 "the extensions' hash knows neither their order nor the blanks between them",
                 "[queries]") {
  const auto hash = [&](const char *list) {
    says("1.2", list);
    return identity().text(Field::extensions_hash);
  };
  CHECK(hash("a b") == packs::hex64(packs::xxh3(std::string_view("a b"))));
  CHECK(hash(" b\ta b ") == hash("a b"));
  CHECK(hash("ab") != hash("a b"));
  CHECK(hash("") == packs::hex64(packs::xxh3(std::string_view())));
}

TEST_CASE_METHOD(Quiet, "a device that is the processor has its instruction set", "[queries]") {
  CHECK_FALSE(identity()[Field::instruction_set]);
  driver.device[CL_DEVICE_TYPE] = bytes_of<cl_device_type>({CL_DEVICE_TYPE_GPU});
  CHECK_FALSE(identity()[Field::instruction_set]);
  driver.device[CL_DEVICE_TYPE] = bytes_of<cl_device_type>({CL_DEVICE_TYPE_CPU});
  const char *expected = instruction_set();
  CHECK(identity()[Field::instruction_set] ==
        (expected == nullptr ? std::nullopt : std::optional<std::string>(expected)));
}

#if defined(__x86_64__) && defined(__GLIBC__)
TEST_CASE("the system's loader finds the same instruction set", "[queries]") {
  std::FILE *said = popen("/lib64/ld-linux-x86-64.so.2 --help", "r");
  REQUIRE(said != nullptr);
  std::string highest = "x86-64";
  for (char line[256]; std::fgets(line, sizeof(line), said) != nullptr;) {
    const std::string level(line + std::strspn(line, " "), 9);
    if (std::strstr(line, "(supported") != nullptr && level.rfind("x86-64-v", 0) == 0) {
      highest = std::max(highest, level);
    }
  }
  REQUIRE(pclose(said) == 0);
  CHECK(instruction_set() == highest);
}
#endif

TEST_CASE_METHOD(Quiet, "a UUID needs its extension or OpenCL 3.1", "[queries]") {
  const std::string bytes = "0123456789abcdef";
  driver.device[kUuid] = bytes;
  CHECK_FALSE(identity()[Field::device_uuid]);
  says("1.2", "cl_khr_device_uuid");
  CHECK(identity()[Field::device_uuid] == "30313233343536373839616263646566");
  CHECK_FALSE(identity()[Field::driver_uuid]);
  says("3.0");
  CHECK_FALSE(identity()[Field::device_uuid]);
  says("3.1");
  CHECK(identity()[Field::device_uuid] == "30313233343536373839616263646566");
}

TEST_CASE_METHOD(Quiet, "a compute capability has two numbers and NVIDIA's extension",
                 "[queries]") {
  const auto capability = [&] { return identity()[Field::compute_capability]; };
  driver.device[kMajor] = number(9);
  driver.device[kMinor] = number(0);
  CHECK_FALSE(capability());
  says("3.0", "cl_nv_device_attribute_query");
  CHECK(capability() == "9.0");
  CHECK(capabilities().compute_capability == 900);
  driver.device[kMajor] = number(0);
  CHECK_FALSE(capability());
  driver.device[kMajor] = number(9);
  driver.device.erase(kMinor);
  CHECK_FALSE(capability());
  driver.device[kMinor] = number(1);
  CHECK(capability() == "9.1");
  driver.device.erase(kMajor);
  CHECK_FALSE(capability());
}

TEST_CASE_METHOD(Quiet, "IL is asked for from OpenCL 2.1 on, and with its extension", "[queries]") {
  driver.device[kIlVersion] = "SPIR-V_1.2";
  const auto il = [&] { return identity()[Field::il_version]; };
  says("2.0");
  CHECK_FALSE(il());
  says("2.0", "cl_khr_il_program");
  CHECK(il() == "SPIR-V_1.2");
  says("2.1");
  CHECK(il() == "SPIR-V_1.2");
  CHECK(capabilities().il_versions == std::vector<std::uint32_t>{0x00010200});
  driver.device.erase(kIlVersion);
  CHECK_FALSE(il());
}

TEST_CASE_METHOD(Quiet, "sub-groups are there with the extension, or from 2.1 on with a number",
                 "[queries]") {
  CHECK(says("1.2", "cl_khr_subgroups").capabilities().subgroups);
  CHECK_FALSE(says("2.1").capabilities().subgroups);
  driver.device[kMaxSubGroups] = number(1);
  CHECK(says("2.1").capabilities().subgroups);
  CHECK(says("3.0").capabilities().subgroups);
  CHECK_FALSE(says("2.0").capabilities().subgroups);
  driver.device[kMaxSubGroups] = number(0);
  CHECK_FALSE(says("2.1").capabilities().subgroups);
}

TEST_CASE_METHOD(Quiet, "doubles are there with the extension, or with a configuration",
                 "[queries]") {
  CHECK(says("1.2", "cl_khr_fp64").capabilities().fp64);
  driver.device[CL_DEVICE_DOUBLE_FP_CONFIG] = bytes_of<cl_device_fp_config>({63});
  CHECK(says("1.2").capabilities().fp64);
  driver.device[CL_DEVICE_DOUBLE_FP_CONFIG] = bytes_of<cl_device_fp_config>({0});
  CHECK_FALSE(says("1.2").capabilities().fp64);
}

TEST_CASE_METHOD(Quiet, "groups may be non-uniform in OpenCL 2, and in 3 where the device says so",
                 "[queries]") {
  const auto non_uniform = [&](const char *version) {
    return says(version).capabilities().non_uniform_work_groups;
  };
  driver.device[kNonUniform] = number(CL_TRUE);
  CHECK_FALSE(non_uniform("1.2"));
  CHECK(non_uniform("2.0"));
  CHECK(non_uniform("2.2"));
  CHECK(non_uniform("3.0"));
  driver.device[kNonUniform] = number(CL_FALSE);
  CHECK(non_uniform("2.0"));
  CHECK_FALSE(non_uniform("3.0"));
  CHECK(says("3.0").capabilities().opencl_3);
  CHECK(says("3.1").capabilities().opencl_3);
  CHECK_FALSE(says("2.9").capabilities().opencl_3);
}

TEST_CASE_METHOD(Quiet, "OpenCL 3.1 includes integer dot products", "[queries]") {
  CHECK(says("3.1").capabilities().opencl_3_1);
  CHECK(says("3.1").capabilities().integer_dot_product);
  CHECK_FALSE(says("3.0").capabilities().opencl_3_1);
  CHECK_FALSE(says("3.0").capabilities().integer_dot_product);
}

TEST_CASE_METHOD(Quiet, "features are names in a list, from OpenCL 3.0 on", "[queries]") {
  const auto row = [](std::string name) {
    name.resize(64);
    return number(0x00C00000) + name;
  };
  driver.device[kFeatures] = row("__opencl_c_int64") + row("__opencl_c_pipes");
  CHECK(says("3.0").capabilities().features == " __opencl_c_int64 __opencl_c_pipes ");
  CHECK(says("2.0").capabilities().features.empty());
  driver.device[kFeatures] = row("__opencl_c_int64") + std::string(3, 'x');
  CHECK(says("3.0").capabilities().features == " __opencl_c_int64 ");
  driver.device.erase(kFeatures);
  CHECK(says("3.0").capabilities().features == " ");
}

TEST_CASE_METHOD(Quiet, "of the sides of a work-group three are kept, and others stay",
                 "[queries]") {
  using Sizes = std::vector<std::size_t>;
  const auto sides = [&](const Sizes &sizes) {
    driver.device[CL_DEVICE_MAX_WORK_ITEM_SIZES] = bytes_of(sizes);
    const Capabilities found = capabilities();
    return Sizes(std::begin(found.max_work_item_sizes), std::end(found.max_work_item_sizes));
  };
  const Capabilities said_nothing;
  const Sizes fresh(std::begin(said_nothing.max_work_item_sizes),
                    std::end(said_nothing.max_work_item_sizes));
  CHECK(sides({7, 8, 9}) == Sizes{7, 8, 9});
  CHECK(sides({7, 8, 9, 10}) == Sizes{7, 8, 9});
  CHECK(sides({7, 8}) == Sizes{7, 8, fresh[2]});
  CHECK(sides({}) == fresh);
  CHECK(sides(Sizes(kMaxBytes / sizeof(std::size_t), 5)) == Sizes{5, 5, 5});
  CHECK(sides(Sizes(kMaxBytes / sizeof(std::size_t) + 1, 5)) == fresh);
}

TEST_CASE("extensions are words between white space of any kind", "[queries]") {
  using Names = std::vector<std::string>;
  CHECK(parse_extensions(" b\ta\n\v\f\rb  c") == Names{"a", "b", "c"});
  CHECK(parse_extensions("").empty());
  CHECK(parse_extensions(" \r").empty());
  CHECK(parse_extensions("a\x0e") == Names{"a\x0e"});
  CHECK(parse_extensions("a\x08") == Names{"a\x08"});
  CHECK(parse_extensions(std::string_view("abc", 2)) == Names{"ab"});
  CHECK(parse_extensions(std::string_view("a   ", 2)) == Names{"a"});
}

TEST_CASE("versions of SPIR-V are found among other words, sorted and once", "[queries]") {
  using Versions = std::vector<std::uint32_t>;
  CHECK(parse_il_versions("X_1.0 SPIR-V_1.2 SPIR-V SPIR-V_1.0 SPIR-V_1.2") ==
        Versions{0x00010000, 0x00010200});
  CHECK(parse_il_versions("SPIR-V_9.10 SPIR-V_10.9") == Versions{0x00090a00, 0x000a0900});
  for (const char *text : {"SPIR-V_", "SPIR-V_1", "SPIR-V_1.", "SPIR-V_.1", "SPIR-V_1.2.3",
                           "SPIR-V_1..2", "SPIR-V_1.100", "SPIR-V_100.1", "SPIR-V_1./",
                           "SPIR-V_1.:", "SPIR-V_/.1", "spir-v_1.0", ""}) {
    CAPTURE(text);
    CHECK(parse_il_versions(text).empty());
  }
}

TEST_CASE_METHOD(Quiet, "a sub-device is held as long as its device is open", "[queries]") {
  const auto held = [&](const OpenCL &with) {
    driver.retained = driver.released = 0;
    const auto device =
        open_device(std::make_shared<const OpenCL>(with), {nullptr, handle<cl_device_id>(9)});
    CHECK(driver.released == 0);
    return driver.retained;
  };
  const auto parent = [](std::uintptr_t value) {
    driver.device[CL_DEVICE_PARENT_DEVICE] = bytes_of<std::uintptr_t>({value});
  };
  says("1.2");
  CHECK(held(cl) == 0);
  parent(0);
  CHECK(held(cl) == 0);
  parent(1);
  CHECK(held(cl) == 1);
  CHECK(driver.released == 1);
  says("1.1");
  CHECK(held(cl) == 0);
  says("3.0");
  CHECK(held(cl) == 1);
  OpenCL old = cl;
  old.clRetainDevice = nullptr;
  CHECK(held(old) == 0);
  old = cl;
  old.clReleaseDevice = nullptr;
  CHECK(held(old) == 0);
}

TEST_CASE_METHOD(Quiet, "a platform that fails costs its own devices alone", "[queries]") {
  const auto platform = [](std::uintptr_t at) { return handle<cl_platform_id>(at); };
  const auto device = [](std::uintptr_t at) { return handle<cl_device_id>(at); };
  driver.platforms = {platform(1), platform(2), platform(3), platform(4)};
  driver.devices[platform(2)] = {device(5)};
  driver.refuses_list = platform(2);
  driver.devices[platform(3)] = {};
  driver.devices[platform(4)] = {device(6), device(7)};
  std::vector<DeviceId> found;
  REQUIRE(list_devices(cl, &found).ok());
  REQUIRE(found.size() == 2);
  CHECK(found[0].platform == platform(4));
  CHECK(found[0].device == device(6));
  CHECK(found[1].device == device(7));
  driver.devices.erase(platform(4));
  found.clear();
  CHECK(list_devices(cl, &found).message == "no OpenCL device: 4 platforms have none");
}

TEST_CASE_METHOD(Quiet, "no platform is said with the loader's code", "[queries]") {
  std::vector<DeviceId> found;
  CHECK(list_devices(cl, &found).message ==
        "no OpenCL platform: clGetPlatformIDs returned 0 and 0 platforms");
  driver.platforms = {handle<cl_platform_id>(1)};
  driver.platforms_code = -1001;
  CHECK(list_devices(cl, &found).message ==
        "no OpenCL platform: clGetPlatformIDs returned CL_PLATFORM_NOT_FOUND_KHR (-1001) and 1 "
        "platforms");
  CHECK(found.empty());
}

TEST_CASE_METHOD(Quiet, "clocks are read from OpenCL 2.1 on, where the platform has a timer",
                 "[queries]") {
  const auto reads = [&](const char *version, const OpenCL &with) {
    says(version);
    const auto device = open_device(std::make_shared<const OpenCL>(with), {nullptr, nullptr});
    cl_ulong at_device = 0, at_host = 0;
    const bool read = read_timers(*device, &at_device, &at_host).ok();
    CHECK(at_host == (read ? 2 : 0));
    return read;
  };
  CHECK_FALSE(reads("2.1", cl));
  driver.platform[CL_PLATFORM_HOST_TIMER_RESOLUTION] = bytes_of<cl_ulong>({1});
  CHECK(reads("2.1", cl));
  CHECK(reads("3.0", cl));
  CHECK_FALSE(reads("2.0", cl));
  driver.platform[CL_PLATFORM_HOST_TIMER_RESOLUTION] = bytes_of<cl_ulong>({0});
  CHECK_FALSE(reads("2.1", cl));
  driver.platform[CL_PLATFORM_HOST_TIMER_RESOLUTION] = bytes_of<cl_ulong>({1});
  OpenCL old = cl;
  old.clGetDeviceAndHostTimer = nullptr;
  CHECK_FALSE(reads("2.1", old));
}

TEST_CASE("the reader in C asks a driver for the same facts", "[queries]") {
  const auto compare = [](Quiet &quiet) {
    static char memory[KILN_DROPIN_FACT_BYTES];
    kiln_dropin_device device;
    driver.device[CL_DEVICE_PLATFORM] = bytes_of<cl_platform_id>({handle<cl_platform_id>(1)});
    const char *why =
        kiln_dropin_identify(platform_info, device_info, nullptr, memory, sizeof(memory), &device);
    REQUIRE(why == nullptr);
    const Identity identity = quiet.identity();
    unsigned present = 0;
    for (std::size_t i = 0; i < kFieldCount; ++i) {
      CAPTURE(field_name(static_cast<Field>(i)));
      const auto &value = identity[static_cast<Field>(i)];
      REQUIRE(value.has_value() == (device.facts[i] != nullptr));
      if (value) CHECK(*value == device.facts[i]);
      present += value.has_value();
    }
    // Memory that ends anywhere is too small, and is not overrun.
    for (std::size_t size = 0; size < sizeof(memory); ++size) {
      std::vector<char> small(size);
      why = kiln_dropin_identify(platform_info, device_info, nullptr, small.data(), size, &device);
      if (why == nullptr) break;
    }
    CHECK(why == nullptr);
    return present;
  };
  Quiet quiet;
  CHECK(compare(quiet) == 0);
  driver.platform[CL_PLATFORM_NAME] = std::string("A platform\0\0", 12);
  driver.platform[CL_PLATFORM_VENDOR] = "";
  driver.device[CL_DEVICE_NAME] = "A device";
  driver.device[CL_DEVICE_VENDOR_ID] = number(0x8086);
  driver.device[CL_DEVICE_ADDRESS_BITS] = number(64);
  driver.device[CL_DRIVER_VERSION] = "7";
  driver.device[kUuid] = std::string(16, '\x1f');
  driver.device[kUuid + 1] = std::string(16, '\xa0');
  driver.device[0x4250] = number(0xc0004);
  driver.device[kMajor] = number(9);
  driver.device[kMajor + 1] = number(0);
  driver.device[kIlVersion] = "SPIR-V_1.2";
  CHECK(compare(quiet.says("1.2", "b a\n  cl_khr_x a ")) == 8);
  CHECK(compare(quiet.says("2.1", "b ab a aa")) == 9);
  CHECK(compare(quiet.says("3.1", "")) == 11);
  CHECK(compare(quiet.says("1.2",
                           "cl_khr_device_uuid cl_khr_il_program "
                           "cl_intel_device_attribute_query "
                           "cl_nv_device_attribute_query")) == 13);
  driver.device[kMajor] = number(0);
  driver.device[CL_DEVICE_VERSION] = "OpenCL x";
  CHECK(compare(quiet) == 12);
  driver.device[CL_DEVICE_TYPE] = bytes_of<cl_device_type>({CL_DEVICE_TYPE_CPU});
  CHECK(compare(quiet) == (instruction_set() == nullptr ? 12 : 13));
}
