// SPDX-License-Identifier: Apache-2.0
// Requirements of variants, and whether a device meets them. Values and pure functions; the queries
// that fill Capabilities are in runtime/device/device.hpp.
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

// Capabilities of a device. If a query failed, its value is the one here: false, or zero.
struct Capabilities {
  std::string profile = "generic";  // Description::profile
  bool images = false;
  bool fp16 = false;
  bool fp64 = false;
  bool subgroups = false;
  bool integer_dot_product = false;
  bool opencl_3 = false;        // 3.0 or later
  bool opencl_3_1 = false;      // 3.1 or later
  bool unified_memory = false;  // host and device share memory
  bool compiler = false;        // compiles source
  // Whether a range may be other than a multiple of the work-group size.
  bool non_uniform_work_groups = false;
  std::uint32_t address_bits = 0;
  std::uint32_t compute_capability = 0;  // NVIDIA's: 5.3 is 503
  std::size_t max_work_group_size = 0;
  std::size_t max_work_item_sizes[3] = {0, 0, 0};
  std::uint64_t local_memory = 0;          // bytes
  std::vector<std::uint32_t> il_versions;  // SPIR-V, ascending: 1.2 is 0x00010200
  std::vector<std::string> extensions;     // sorted, no duplicates
  // Features of OpenCL C, each between blanks (" __opencl_c_int64 "); none before OpenCL 3.0.
  std::string features;
  // What the device answers to the queries of cl_khr_spirv_queries, each between blanks, such as
  // " 4 6 SPV_KHR_expect_assume OpenCL.std ": the numbers of SPIR-V's capabilities, its extensions
  // and instruction sets. Empty: the device does not answer.
  std::string il_support;

  bool has_extension(std::string_view name) const;
};

// Fails with Code::requirement if the device lacks the requirement; the message says what is
// lacking, without a subject ("needs the extension cl_khr_fp16"). kRules has every requirement:
//   images fp16 fp64 subgroups integer_dot_product opencl_3 opencl_3_1 unified_memory
//   __opencl_c_NAME  a feature of OpenCL C is in the device's list
//   extension:NAME   the extension is in the device's list
//   vendor:PROFILE   the device's profile is that one
//   work_group:N     the device's work-groups may have N work-items
//   compute_capability:M.N   NVIDIA's compute capability is at least M.N, as numbers: 5.10 > 5.3
// Every device meets the following requirements; launch_rules() and the ladder read them:
//   range_multiple:XxY   NDRanges and work-groups are multiples of X by Y work-items
//   no_global_offset     NDRanges begin at 0
//   proof                the variant is used as a binary that computed the results of the reference
// Any other text counts as missing: a later builder may know more requirements than this runtime.
packs::Status check_requirement(std::string_view requirement, const Capabilities &device);
// Fails for the first requirement that the device lacks; the elements of `requirements` are texts.
template <typename Requirements>
packs::Status check_requirements(const Requirements &requirements, const Capabilities &device) {
  for (const auto &requirement : requirements) {
    packs::Status status = check_requirement(requirement, device);
    if (!status.ok()) return status;
  }
  return {};
}

// Returns 100 * M + N for "M.N", M from 1 and both below 100, without leading zeros; else 0.
std::uint32_t parse_compute_capability(std::string_view text);
// Returns the compute capability in a binary key; 0 if it is absent.
std::uint32_t compute_capability_of(const Facts &key);
// Returns the compute capability that the target with this key was built for; 0 for another
// vendor's target, and for address bits that differ from the device's.
std::uint32_t compute_capability_of(const Facts &key, const Description &device);
// Returns whether NVIDIA promises that GPUs of one compute capability take the cubins for another:
// the major versions are equal, and the cubins' minor version is lower. False if either is 0.
bool takes_lower_cubins(std::uint32_t device, std::uint32_t cubins);
// The rule, for people.
inline constexpr char kTakesLowerCubins[] =
    "NVIDIA's GPUs take code for lower minor compute capabilities";

// Returns {4, 2, 1} for "4x2": one to three numbers from 1 to 9999; {0, 0, 0} for any other text.
std::array<std::size_t, 3> parse_range_multiple(std::string_view text);
inline constexpr std::string_view kRangeMultiple = "range_multiple:";
inline constexpr std::string_view kNoGlobalOffset = "no_global_offset";
inline constexpr std::string_view kProof = "proof";

// Returns whether a variant has the requirement `word`.
template <typename Requirements>
bool requires_word(const Requirements &requirements, std::string_view word) {
  for (const auto &requirement : requirements) {
    if (requirement == word) return true;
  }
  return false;
}

// Returns whether a manifest may name the requirement: it is in the table, and a vendor is a
// profile of this version.
bool is_known_requirement(std::string_view requirement);

// Returns all that a manifest may name, for messages: "fp16", ..., "vendor:adreno", ...,
// "extension:NAME", ...
std::vector<std::string> known_requirements();

}  // namespace kiln::runtime
