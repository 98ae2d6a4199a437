// SPDX-License-Identifier: Apache-2.0
// Queries lists of numbers and of names, and reads the first instructions of a module.
#include "builder/device/il_support.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace kiln::builder {
namespace {

constexpr cl_device_info kSpirvInstructionSetsQuery = 0x12B9;
constexpr cl_device_info kSpirvExtensionsQuery = 0x12BA;
constexpr cl_device_info kSpirvCapabilitiesQuery = 0x12BB;
constexpr std::size_t kMaxIlListBytes = std::size_t{1} << 20;  // more is a driver's mistake

constexpr std::uint32_t kModuleMagic = 0x07230203;
constexpr std::size_t kModuleHeaderWords = 5;
constexpr std::uint32_t kOpExtension = 10;
constexpr std::uint32_t kOpExtInstImport = 11;
constexpr std::uint32_t kOpCapability = 17;

struct CapabilityName {
  std::uint32_t number;
  const char *name;
};

// Capabilities that OpenCL's modules declare; others are told by number.
constexpr CapabilityName kCapabilityNames[] = {
    {4, "Addresses"},
    {5, "Linkage"},
    {6, "Kernel"},
    {7, "Vector16"},
    {8, "Float16Buffer"},
    {9, "Float16"},
    {10, "Float64"},
    {11, "Int64"},
    {12, "Int64Atomics"},
    {13, "ImageBasic"},
    {14, "ImageReadWrite"},
    {15, "ImageMipmap"},
    {17, "Pipes"},
    {18, "Groups"},
    {19, "DeviceEnqueue"},
    {20, "LiteralSampler"},
    {22, "Int16"},
    {38, "GenericPointer"},
    {39, "Int8"},
    {43, "Sampled1D"},
    {44, "Image1D"},
    {46, "SampledBuffer"},
    {47, "ImageBuffer"},
    {58, "SubgroupDispatch"},
    {61, "GroupNonUniform"},
    {62, "GroupNonUniformVote"},
    {63, "GroupNonUniformArithmetic"},
    {64, "GroupNonUniformBallot"},
    {65, "GroupNonUniformShuffle"},
    {66, "GroupNonUniformShuffleRelative"},
    {67, "GroupNonUniformClustered"},
    {5568, "SubgroupShuffleINTEL"},
    {5569, "SubgroupBufferBlockIOINTEL"},
    {5570, "SubgroupImageBlockIOINTEL"},
    {6016, "DotProductInputAll"},
    {6017, "DotProductInput4x8Bit"},
    {6018, "DotProductInput4x8BitPacked"},
    {6019, "DotProduct"},
};

std::string capability_text(std::uint32_t number) {
  for (const CapabilityName &one : kCapabilityNames) {
    if (one.number == number) return one.name;
  }
  return std::to_string(number);
}

template <typename T>
std::vector<T> query_list(const runtime::Device &device, cl_device_info what) {
  const auto query = device.cl->clGetDeviceInfo;
  std::size_t bytes = 0;
  if (query(device.id, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes > kMaxIlListBytes)
    return {};
  std::vector<T> list(bytes / sizeof(T));
  if (list.empty() ||
      query(device.id, what, list.size() * sizeof(T), list.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  return list;
}

std::vector<std::string> query_name_list(const runtime::Device &device, cl_device_info what) {
  std::vector<std::string> names;
  for (const char *name : query_list<const char *>(device, what)) {
    if (name != nullptr) names.emplace_back(name);
  }
  return names;
}

template <typename T>
bool is_listed_in(const std::vector<T> &list, const T &value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::uint32_t module_word(packs::View module, std::size_t index) {
  const std::uint8_t *p = module.data + index * 4;
  return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8u |
         static_cast<std::uint32_t>(p[2]) << 16u | static_cast<std::uint32_t>(p[3]) << 24u;
}

// Returns the literal string in these words of the module.
std::string module_text(packs::View module, std::size_t begin, std::size_t end) {
  const char *first = reinterpret_cast<const char *>(module.data) + begin * 4;
  const char *last = reinterpret_cast<const char *>(module.data) + end * 4;
  return {first, std::find(first, last, '\0')};
}

}  // namespace

void to_json(nlohmann::json &out, const IlSupport &support) {
  out = {{"capabilities", support.capabilities},
         {"extensions", support.extensions},
         {"instruction_sets", support.instruction_sets}};
}

void from_json(const nlohmann::json &in, IlSupport &support) {
  in.at("capabilities").get_to(support.capabilities);
  in.at("extensions").get_to(support.extensions);
  in.at("instruction_sets").get_to(support.instruction_sets);
}

std::optional<IlSupport> query_il_support(const runtime::Device &device) {
  const runtime::Capabilities &known = device.capabilities;
  if (!known.opencl_3_1 && !known.has_extension("cl_khr_spirv_queries")) return std::nullopt;
  IlSupport support{query_list<std::uint32_t>(device, kSpirvCapabilitiesQuery),
                    query_name_list(device, kSpirvExtensionsQuery),
                    query_name_list(device, kSpirvInstructionSetsQuery)};
  if (support.capabilities.empty()) return std::nullopt;
  return support;
}

Status check_il(packs::View module, const IlSupport &support) {
  const std::size_t words = module.size / 4;
  if (words < kModuleHeaderWords || module_word(module, 0) != kModuleMagic) return {};
  std::string lacking;
  std::size_t next = 0;
  for (std::size_t at = kModuleHeaderWords; at < words && lacking.empty(); at = next) {
    const std::uint32_t first = module_word(module, at);
    const std::uint32_t opcode = first & 0xffff;
    next = at + (first >> 16);
    if (next < at + 2 || next > words) break;
    if (opcode == kOpCapability) {
      const std::uint32_t capability = module_word(module, at + 1);
      if (!is_listed_in(support.capabilities, capability)) {
        lacking = "capability " + capability_text(capability);
      }
    } else if (opcode == kOpExtension) {
      const std::string name = module_text(module, at + 1, next);
      if (!is_listed_in(support.extensions, name)) lacking = "extension " + name;
    } else if (opcode == kOpExtInstImport) {
      const std::string name = module_text(module, at + 2, next);
      // Instructions of such a set only describe: a device may skip them.
      // Every device takes OpenCL.std: an empty list is no answer.
      const bool may_skip = name.starts_with("NonSemantic.") || support.instruction_sets.empty();
      if (!may_skip && !is_listed_in(support.instruction_sets, name))
        lacking = "instruction set " + name;
    } else {
      break;  // a module declares its needs first
    }
  }
  return lacking.empty() ? Status() : Status(Code::requirement, "needs the SPIR-V " + lacking);
}

}  // namespace kiln::builder
