// SPDX-License-Identifier: Apache-2.0
// The requirements that a manifest may name: the one list of them. What a requirement
// means for a device is the runtime's affair. Safe to use from any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::builder {

// "extension:NAME" asks for one OpenCL extension; NAME is letters, digits and '_'.
inline constexpr std::string_view kExtensionPrefix = "extension:";
// "work_group:N" asks for work-groups of N work-items.
inline constexpr std::string_view kWorkGroupPrefix = "work_group:";
// "compute_capability:M.N" asks for NVIDIA's compute capability M.N or more.
inline constexpr std::string_view kComputeCapabilityPrefix = "compute_capability:";

// Every requirement with a fixed name, sorted: "fp16", ..., "vendor:adreno", ...
inline std::vector<std::string> requirement_names() {
  return {"fp16",           "fp64",          "images",         "integer_dot_product",
          "opencl_3",       "subgroups",     "unified_memory", "vendor:adreno",
          "vendor:amd",     "vendor:apple",  "vendor:generic", "vendor:intel",
          "vendor:mali",    "vendor:nvidia", "vendor:pocl",    "vendor:powervr",
          "vendor:rusticl", "vendor:vivante"};
}

// Whether the text is a number from 1 of at most `most` digits.
inline bool is_number(std::string_view text, std::size_t most) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() <= most && text.front() != '0' &&
         std::all_of(text.begin(), text.end(), digit);
}

// Whether `name` is one of requirement_names() or a well-formed "extension:NAME",
// "work_group:N" or "compute_capability:M.N".
inline bool is_requirement(std::string_view name) {
  if (name.starts_with(kWorkGroupPrefix)) {
    name.remove_prefix(kWorkGroupPrefix.size());
    return is_number(name, 6);
  }
  if (name.starts_with(kComputeCapabilityPrefix)) {
    name.remove_prefix(kComputeCapabilityPrefix.size());
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos || !is_number(name.substr(0, dot), 2)) return false;
    const std::string_view minor = name.substr(dot + 1);
    return minor == "0" || is_number(minor, 2);
  }
  if (name.starts_with(kExtensionPrefix)) {
    name.remove_prefix(kExtensionPrefix.size());
    const auto fits = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !name.empty() && std::all_of(name.begin(), name.end(), fits);
  }
  const std::vector<std::string> names = requirement_names();
  return std::binary_search(names.begin(), names.end(), name);
}

}  // namespace kiln::builder
