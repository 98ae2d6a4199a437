// SPDX-License-Identifier: Apache-2.0
// What a variant may demand of a device, and whether the device has it. Values and pure
// functions; the queries that fill Capabilities are in query.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/packs/status.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::runtime {

// What a device can do. A query that failed leaves the value here: not there, or zero.
struct Capabilities {
  std::string profile = "generic";  // Description::profile
  bool images = false;
  bool fp16 = false;
  bool fp64 = false;
  bool subgroups = false;
  bool integer_dot_product = false;
  bool opencl_3 = false;
  bool unified_memory = false;  // host and device share memory
  bool compiler = false;        // takes source
  bool non_uniform_work_groups =
      false;  // launches ranges that are no multiple of the work-group size
  std::uint32_t address_bits = 0;
  std::uint32_t compute_capability = 0;  // NVIDIA's: 5.3 is 503
  std::size_t max_work_group_size = 0;
  std::size_t max_work_item_sizes[3] = {0, 0, 0};
  std::uint64_t local_memory = 0;          // bytes
  std::vector<std::uint32_t> il_versions;  // SPIR-V, ascending: 1.2 is 0x00010200
  std::vector<std::string> extensions;     // sorted, no duplicates

  bool has_extension(std::string_view name) const;
};

// Fails with Code::requirement for what the device lacks, which the message says without a subject
// ("needs the extension cl_khr_fp16"). The table in requirements.cpp has every requirement:
//   images fp16 fp64 subgroups integer_dot_product opencl_3 unified_memory
//   extension:NAME   the extension is in the device's list
//   vendor:PROFILE   the device's profile is that one
//   work_group:N     the device's work-groups may have N work-items
//   compute_capability:M.N   NVIDIA's compute capability is at least M.N, as numbers: 5.10 > 5.3
// Of these every device is capable; launch_rules() and the ladder read them:
//   range_multiple:XxY   NDRanges and work-groups are multiples of X by Y work-items
//   no_global_offset     NDRanges begin at 0
//   proof                the variant is used as a binary that computed what the reference does
// Any other text counts as missing: a later builder may know more requirements than this runtime.
packs::Status check_requirement(std::string_view requirement, const Capabilities &device);
// Fails for the first that is missing; the elements are texts.
template <typename Requirements>
packs::Status check_requirements(const Requirements &requirements, const Capabilities &device) {
  for (const auto &requirement : requirements) {
    packs::Status status = check_requirement(requirement, device);
    if (!status.ok()) return status;
  }
  return {};
}

// 100 * M + N of "M.N", M from 1 and both below 100, without leading zeros; else 0.
std::uint32_t parse_compute_capability(std::string_view text);
// Of the fact in a binary key; 0 if it is absent.
std::uint32_t compute_capability_of(const Facts &key);

// {4, 2, 1} of "4x2": one to three numbers from 1 to 9999; {0, 0, 0} of any other text.
std::array<std::size_t, 3> parse_range_multiple(std::string_view text);
inline constexpr std::string_view kRangeMultiple = "range_multiple:";
inline constexpr std::string_view kNoGlobalOffset = "no_global_offset";
inline constexpr std::string_view kProof = "proof";

// Whether a requirement of a variant is that one.
template <typename Requirements>
bool requires_word(const Requirements &requirements, std::string_view word) {
  for (const auto &requirement : requirements) {
    if (requirement == word) return true;
  }
  return false;
}

// Whether a manifest may name the requirement: one of the table; a vendor must be a
// profile of this version.
bool is_known_requirement(std::string_view requirement);

// What a manifest may name, for messages: "fp16", ..., "vendor:adreno", ..., "extension:NAME", ...
std::vector<std::string> known_requirements();

}  // namespace kiln::runtime
