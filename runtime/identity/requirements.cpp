// SPDX-License-Identifier: Apache-2.0
#include "runtime/identity/requirements.hpp"

#include <algorithm>

#include "kiln/packs/text.hpp"

namespace kiln::runtime {
namespace {

using packs::concat;

struct Feature {
  bool Capabilities::*has;
  char requirement[20];
  char lack[28];
};

constexpr Feature kFeatures[] = {
    {&Capabilities::images, "images", "images"},
    {&Capabilities::fp16, "fp16", "half-precision arithmetic"},
    {&Capabilities::fp64, "fp64", "double-precision arithmetic"},
    {&Capabilities::subgroups, "subgroups", "sub-groups"},
    {&Capabilities::integer_dot_product, "integer_dot_product", "integer dot products"},
    {&Capabilities::opencl_3, "opencl_3", "OpenCL 3.0"},
    {&Capabilities::unified_memory, "unified_memory", "memory shared with the host"},
};

const Feature *find_feature(const std::string &requirement) {
  for (const Feature &feature : kFeatures) {
    if (requirement == feature.requirement) return &feature;
  }
  return nullptr;
}

constexpr char kComputeCapability[] = "compute_capability:";

// What follows the prefix; empty if the text does not start with it.
std::string_view argument(std::string_view text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return {};
  return text.substr(prefix.size());
}

// A number from 1 of at most `most` digits; 0 if the text is anything else.
std::size_t number_of(std::string_view digits, std::size_t most) {
  if (digits.size() > most) return 0;
  std::size_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9' || (c == '0' && number == 0)) return 0;
    number = 10 * number + static_cast<std::size_t>(c - '0');
  }
  return number;
}

// N of "work_group:N"; 0 for another requirement.
std::size_t work_group_of(std::string_view requirement) {
  return number_of(argument(requirement, "work_group:"), 9);
}

// Of "compute_capability:M.N"; 0 for another requirement.
std::size_t compute_capability_of(std::string_view requirement) {
  return parse_compute_capability(argument(requirement, kComputeCapability));
}

std::optional<std::string> missing_capability(std::size_t needed, std::string_view version,
                                              std::size_t has) {
  if (has >= needed) return std::nullopt;
  if (has == 0) return concat({"needs NVIDIA's compute capability ", version});
  return concat({"needs compute capability ", version, " (this device has ",
                 packs::decimal(has / 100), ".", packs::decimal(has % 100), ")"});
}

std::optional<std::string> missing_one(const std::string &requirement, const Capabilities &device) {
  if (const Feature *feature = find_feature(requirement)) {
    if (device.*feature->has) return std::nullopt;
    return concat({"needs ", feature->lack});
  }
  const std::string_view extension = argument(requirement, "extension:");
  if (!extension.empty()) {
    if (device.has_extension(extension)) return std::nullopt;
    return concat({"needs the extension ", extension});
  }
  const std::string_view profile = argument(requirement, "vendor:");
  if (!profile.empty()) {
    if (device.profile == profile) return std::nullopt;
    return concat(
        {"needs a device of the profile ", profile, ", and this one is ", device.profile});
  }
  if (const std::size_t items = work_group_of(requirement)) {
    if (device.max_work_group_size >= items) return std::nullopt;
    return concat({"needs work-groups of ", packs::decimal(items), " work-items"});
  }
  if (const std::size_t needed = compute_capability_of(requirement)) {
    return missing_capability(needed, argument(requirement, kComputeCapability),
                              device.compute_capability);
  }
  return concat({"needs \"", requirement, "\", which this version does not know"});
}

}  // namespace

std::uint32_t parse_compute_capability(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return 0;
  const std::size_t major = number_of(text.substr(0, dot), 2);
  const std::string_view minor_text = text.substr(dot + 1);
  const std::size_t minor = number_of(minor_text, 2);
  if (major == 0 || (minor == 0 && minor_text != "0")) return 0;
  return static_cast<std::uint32_t>(100 * major + minor);
}

std::uint32_t compute_capability_of(const Facts &key) {
  const std::string *text = find_fact(key, "compute_capability");
  return text == nullptr ? 0 : parse_compute_capability(*text);
}

bool Capabilities::has_extension(std::string_view name) const {
  return std::binary_search(extensions.begin(), extensions.end(), name);
}

std::optional<std::string> missing_requirement(const std::vector<std::string> &requirements,
                                               const Capabilities &device) {
  for (const std::string &requirement : requirements) {
    if (auto missing = missing_one(requirement, device)) return missing;
  }
  return std::nullopt;
}

bool is_known_requirement(const std::string &requirement) {
  return find_feature(requirement) != nullptr || !argument(requirement, "extension:").empty() ||
         !argument(requirement, "vendor:").empty() || work_group_of(requirement) != 0 ||
         compute_capability_of(requirement) != 0;
}

}  // namespace kiln::runtime
