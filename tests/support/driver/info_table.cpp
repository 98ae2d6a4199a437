// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/info_table.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace kiln::driver {
namespace {

constexpr cl_uint kIpVersionIntel = 0x4250;
constexpr cl_uint kSpirvInstructionSets = 0x12B9;
constexpr cl_uint kSpirvExtensions = 0x12BA;
constexpr cl_uint kSpirvCapabilities = 0x12BB;

constexpr InfoRow kPlatform[] = {
    {"name", CL_PLATFORM_NAME, Kind::text, "Kiln test driver"},
    {"vendor", CL_PLATFORM_VENDOR, Kind::text, "Kiln"},
    {"version", CL_PLATFORM_VERSION, Kind::text, "OpenCL 3.0 scripted"},
    {"profile", CL_PLATFORM_PROFILE, Kind::text, "FULL_PROFILE"},
    {"extensions", CL_PLATFORM_EXTENSIONS, Kind::text, "cl_khr_icd"},
    {"icd_suffix", CL_PLATFORM_ICD_SUFFIX_KHR, Kind::text, "KILN"},
};

constexpr InfoRow kDevice[] = {
    {"name", CL_DEVICE_NAME, Kind::text, "Scripted device"},
    {"vendor", CL_DEVICE_VENDOR, Kind::text, "Kiln"},
    {"vendor_id", CL_DEVICE_VENDOR_ID, Kind::u32, "0"},
    {"version", CL_DEVICE_VERSION, Kind::text, "OpenCL 3.0 scripted"},
    {"opencl_c_version", CL_DEVICE_OPENCL_C_VERSION, Kind::text, "OpenCL C 1.2 "},
    {"profile", CL_DEVICE_PROFILE, Kind::text, "FULL_PROFILE"},
    {"driver_version", CL_DRIVER_VERSION, Kind::text, "1.0"},
    {"extensions", CL_DEVICE_EXTENSIONS, Kind::text, ""},
    {"address_bits", CL_DEVICE_ADDRESS_BITS, Kind::u32, "64"},
    {"device_uuid", CL_DEVICE_UUID_KHR, Kind::uuid, nullptr},
    {"driver_uuid", CL_DRIVER_UUID_KHR, Kind::uuid, nullptr},
    {"compute_capability_major", CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, Kind::u32, nullptr},
    {"compute_capability_minor", CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, Kind::u32, nullptr},
    {"ip_version", kIpVersionIntel, Kind::u32, nullptr},
    {"il", CL_DEVICE_IL_VERSION, Kind::text, ""},
    {"spirv_instruction_sets", kSpirvInstructionSets, Kind::texts, nullptr},
    {"spirv_extensions", kSpirvExtensions, Kind::texts, nullptr},
    {"spirv_capabilities", kSpirvCapabilities, Kind::numbers, nullptr},
    {"compiler_available", CL_DEVICE_COMPILER_AVAILABLE, Kind::flag, "1"},
    {"linker_available", CL_DEVICE_LINKER_AVAILABLE, Kind::flag, "1"},
    {"available", CL_DEVICE_AVAILABLE, Kind::flag, "1"},
    {"endian_little", CL_DEVICE_ENDIAN_LITTLE, Kind::flag, "1"},
    {"images", CL_DEVICE_IMAGE_SUPPORT, Kind::flag, "1"},
    {"unified_memory", CL_DEVICE_HOST_UNIFIED_MEMORY, Kind::flag, "1"},
    {"image2d_max_width", CL_DEVICE_IMAGE2D_MAX_WIDTH, Kind::size, "16384"},
    {"image2d_max_height", CL_DEVICE_IMAGE2D_MAX_HEIGHT, Kind::size, "16384"},
    {"max_compute_units", CL_DEVICE_MAX_COMPUTE_UNITS, Kind::u32, "4"},
    {"max_clock_frequency", CL_DEVICE_MAX_CLOCK_FREQUENCY, Kind::u32, "800"},
    {"max_work_item_dimensions", CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, Kind::u32, "3"},
    {"max_work_item_sizes", CL_DEVICE_MAX_WORK_ITEM_SIZES, Kind::sizes, "1024"},
    {"max_work_group_size", CL_DEVICE_MAX_WORK_GROUP_SIZE, Kind::size, "1024"},
    {"max_sub_groups", CL_DEVICE_MAX_NUM_SUB_GROUPS, Kind::u32, "0"},
    {"max_parameter_size", CL_DEVICE_MAX_PARAMETER_SIZE, Kind::size, "1024"},
    {"local_memory", CL_DEVICE_LOCAL_MEM_SIZE, Kind::u64, "32768"},
    {"global_memory", CL_DEVICE_GLOBAL_MEM_SIZE, Kind::u64, "1073741824"},
    {"max_allocation", CL_DEVICE_MAX_MEM_ALLOC_SIZE, Kind::u64, "268435456"},
    {"mem_base_addr_align", CL_DEVICE_MEM_BASE_ADDR_ALIGN, Kind::u32, "1024"},
    {"double_fp_config", CL_DEVICE_DOUBLE_FP_CONFIG, Kind::u64, "0"},
    {"queue_properties", CL_DEVICE_QUEUE_PROPERTIES, Kind::u64, "2"},
    {"non_uniform_work_groups", CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, Kind::flag, "0"},
    {"preferred_work_group_size_multiple", CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, Kind::size,
     "32"},
};

struct NamedQuery {
  const char *name;
  cl_uint query;
};

#define KILN_QUERY(name) \
  { #name, name }
constexpr NamedQuery kQueries[] = {
    KILN_QUERY(CL_DEVICE_NAME),
    KILN_QUERY(CL_DEVICE_VERSION),
    KILN_QUERY(CL_DRIVER_VERSION),
    KILN_QUERY(CL_DEVICE_EXTENSIONS),
    KILN_QUERY(CL_DEVICE_IL_VERSION),
    KILN_QUERY(CL_DEVICE_UUID_KHR),
    KILN_QUERY(CL_DRIVER_UUID_KHR),
    KILN_QUERY(CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV),
    KILN_QUERY(CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV),
    KILN_QUERY(CL_DEVICE_IMAGE_SUPPORT),
    KILN_QUERY(CL_DEVICE_COMPILER_AVAILABLE),
    KILN_QUERY(CL_PLATFORM_NAME),
    KILN_QUERY(CL_PLATFORM_VERSION),
    KILN_QUERY(CL_PROGRAM_BINARY_SIZES),
    KILN_QUERY(CL_PROGRAM_BINARIES),
    KILN_QUERY(CL_PROGRAM_BINARY_TYPE),
    KILN_QUERY(CL_PROGRAM_BUILD_STATUS),
    KILN_QUERY(CL_PROGRAM_BUILD_LOG),
    KILN_QUERY(CL_PROGRAM_NUM_KERNELS),
    KILN_QUERY(CL_PROGRAM_KERNEL_NAMES),
    KILN_QUERY(CL_PROGRAM_SOURCE),
    KILN_QUERY(CL_KERNEL_NUM_ARGS),
    KILN_QUERY(CL_KERNEL_WORK_GROUP_SIZE),
};
#undef KILN_QUERY

template <typename T>
std::string bytes_of(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
}

}  // namespace

InfoTable platform_table() { return {kPlatform, std::size(kPlatform)}; }
InfoTable device_table() { return {kDevice, std::size(kDevice)}; }

std::string number_bytes(Kind kind, unsigned long long value) {
  switch (kind) {
    case Kind::u32:
    case Kind::numbers: return bytes_of(static_cast<cl_uint>(value));
    case Kind::flag: return bytes_of(static_cast<cl_bool>(value));
    case Kind::u64: return bytes_of(static_cast<cl_ulong>(value));
    default: return bytes_of(static_cast<std::size_t>(value));
  }
}

std::string fallback_bytes(const InfoRow &row) {
  if (row.kind == Kind::text) return std::string(row.fallback) + '\0';
  const std::string number = number_bytes(row.kind, std::strtoull(row.fallback, nullptr, 10));
  return row.kind == Kind::sizes ? number + number + number : number;
}

cl_uint query_by_name(const std::string &name) {
  for (const NamedQuery &named : kQueries) {
    if (name == named.name) return named.query;
  }
  return 0;
}

}  // namespace kiln::driver
