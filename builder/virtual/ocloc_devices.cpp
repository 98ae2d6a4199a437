// SPDX-License-Identifier: Apache-2.0
// Reads the table of devices, and the texts that ocloc's queries give.
#include "builder/virtual/ocloc_devices.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kiln::builder {
namespace {

using nlohmann::json;
using runtime::Field;

// What every device that a later ocloc knows has at least.
constexpr std::size_t kLeastWorkGroup = 256;
constexpr std::uint64_t kLeastLocalMemory = 64 << 10;

runtime::Identity intel_identity(std::uint32_t ip_version, std::uint32_t address_bits,
                                 const std::string &driver_version) {
  runtime::Identity identity;
  identity.set(Field::platform_name, "Intel(R) OpenCL Graphics");
  identity.set(Field::platform_vendor, "Intel(R) Corporation");
  identity.set(Field::device_vendor, "Intel(R) Corporation");
  identity.set(Field::device_version, "OpenCL 3.0 NEO ");
  identity.set(Field::address_bits, std::to_string(address_bits));
  identity.set(Field::driver_version, driver_version);
  identity.set(Field::ip_version, fmt::format("0x{:08x}", ip_version));
  return identity;
}

// What all of them can do, and what follows from the extensions.
runtime::Capabilities intel_capabilities(std::vector<std::string> extensions) {
  runtime::Capabilities can;
  can.profile = "intel";
  std::sort(extensions.begin(), extensions.end());
  can.extensions = std::move(extensions);
  can.fp16 = can.has_extension("cl_khr_fp16");
  can.fp64 = can.has_extension("cl_khr_fp64");
  can.integer_dot_product = can.has_extension("cl_khr_integer_dot_product");
  can.subgroups = true;
  can.opencl_3 = true;
  can.compiler = true;
  can.non_uniform_work_groups = true;
  return can;
}

void set_work_group(std::size_t most, runtime::Capabilities *can) {
  can->max_work_group_size = most;
  std::fill(std::begin(can->max_work_item_sizes), std::end(can->max_work_item_sizes), most);
}

// "12.55.8" as drivers from 23 on count it.
std::optional<std::uint32_t> newer_ip_version(std::string_view text) {
  std::array<std::uint32_t, 3> parts{};
  const char *at = text.data();
  const char *const end = text.data() + text.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, parts[i]);
    const bool last = i + 1 == parts.size();
    if (error != std::errc() || (last ? next != end : next == end || *next != '.')) {
      return std::nullopt;
    }
    at = last ? next : next + 1;
  }
  return parts[0] << 22u | parts[1] << 14u | parts[2];
}

std::vector<std::string> words_in(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

OclocDevice device_of_row(const json &table, const json &family, const json &row,
                          const std::string &driver_version) {
  OclocDevice device;
  device.name = row["names"][0];
  device.stepping = row.value("stepping", 0U);
  const std::string ip = row["ip_version"];
  const std::uint32_t bits = row["address_bits"];
  device.info.identity =
      intel_identity(static_cast<std::uint32_t>(std::stoul(ip, nullptr, 16)), bits, driver_version);
  device.info.description = runtime::describe(device.info.identity);
  std::vector<std::string> extensions = table["extensions"];
  for (const json &one : family["extensions"]) extensions.push_back(one);
  runtime::Capabilities &can = device.info.capabilities;
  can = intel_capabilities(std::move(extensions));
  can.address_bits = bits;
  can.images = row.value("images", true);
  can.unified_memory = row.value("unified_memory", true);
  can.local_memory = row["local_memory"];
  set_work_group(row["work_group"], &can);
  return device;
}

}  // namespace

std::optional<OclocDevice> ocloc_device_of_table(std::string_view table,
                                                 const std::string &driver_version,
                                                 const std::string &name) {
  const json all = json::parse(table);
  if (!driver_version.starts_with(all["driver"].get<std::string>())) return std::nullopt;
  for (const json &family : all["families"]) {
    for (const json &row : family["devices"]) {
      const auto &names = row["names"];
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      return device_of_row(all, family, row, driver_version);
    }
  }
  return std::nullopt;
}

std::vector<std::string> ocloc_table_names(std::string_view table) {
  std::vector<std::string> names;
  const json all = json::parse(table);
  for (const json &family : all["families"]) {
    for (const json &row : family["devices"]) names.push_back(row["names"][0]);
  }
  return names;
}

Result<OclocDevice> ocloc_device_of_query(const std::string &name,
                                          const std::string &driver_version, std::string_view ids,
                                          std::string_view extensions, std::string_view features) {
  std::vector<std::uint32_t> versions;
  for (const std::string &word : words_in(ids)) {
    if (const auto version = newer_ip_version(word)) versions.push_back(*version);
  }
  if (versions.size() != 1) {
    return Status(Code::bad_input,
                  fmt::format("ocloc has {} devices of the name \"{}\"", versions.size(), name));
  }
  OclocDevice device;
  device.name = name;
  device.info.identity = intel_identity(versions[0], 64, driver_version);
  device.info.description = runtime::describe(device.info.identity);
  runtime::Capabilities &can = device.info.capabilities;
  can = intel_capabilities(words_in(extensions));
  can.address_bits = 64;
  can.images = features.find("__opencl_c_images") != std::string_view::npos;
  can.local_memory = kLeastLocalMemory;
  set_work_group(kLeastWorkGroup, &can);
  return device;
}

}  // namespace kiln::builder
