// SPDX-License-Identifier: Apache-2.0
// Lists the options that clang accepts, and maps extensions to the declarations of their built-ins
// and to SPIR-V extensions. If clang refuses a program, adds requirements that may declare the
// names that clang does not know until the program compiles, then removes the needless ones.
#include "builder/compile/host_options.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "declarations_arm_get_core_id.h"
#include "declarations_intel_bfloat16_conversions.h"
#include "declarations_intel_media_block_io.h"
#include "declarations_intel_split_work_group_barrier.h"
#include "declarations_intel_subgroups.h"
#include "declarations_khr_work_group_uniform_arithmetic.h"
#include "declarations_qcom.h"
#include "runtime/source/build_options.hpp"

namespace kiln::builder {

namespace {

constexpr std::array<std::string_view, 13> kPlainOptions = {
    "-Werror",
    "-cl-denorms-are-zero",
    "-cl-fast-relaxed-math",
    "-cl-finite-math-only",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-kernel-arg-info",
    "-cl-mad-enable",
    "-cl-no-signed-zeros",
    "-cl-single-precision-constant",
    "-cl-strict-aliasing",
    "-cl-uniform-work-group-size",
    "-cl-unsafe-math-optimizations",
    "-w",
};

bool is_plain(std::string_view word) {
  return std::binary_search(kPlainOptions.begin(), kPlainOptions.end(), word) ||
         word.starts_with("-cl-std=");
}

using ExtensionRow = std::pair<std::string_view, std::string_view>;

constexpr std::string_view kExtension = "extension:";

// Extensions with a requirement of their own.
constexpr std::array<ExtensionRow, 4> kWords = {{
    {"fp16", "cl_khr_fp16"},
    {"fp64", "cl_khr_fp64"},
    {"integer_dot_product", "cl_khr_integer_dot_product"},
    {"subgroups", "cl_khr_subgroups"},
}};

// Extensions that a device has only together with another one.
constexpr std::array<ExtensionRow, 6> kWrittenAgainst = {{
    {"cl_intel_media_block_io", "cl_intel_subgroups"},
    {"cl_intel_subgroup_local_block_io", "cl_intel_subgroups"},
    {"cl_intel_subgroup_matrix_multiply_accumulate", "cl_intel_subgroups"},
    {"cl_intel_subgroups_char", "cl_intel_subgroups"},
    {"cl_intel_subgroups_long", "cl_intel_subgroups"},
    {"cl_intel_subgroups_short", "cl_intel_subgroups"},
}};

// Extensions that clang switches on for SPIR-V, but that a device may lack.
constexpr std::array<std::string_view, 17> kSwitches = {
    "cl_amd_media_ops",
    "cl_amd_media_ops2",
    "cl_arm_integer_dot_product_accumulate_int16",
    "cl_arm_integer_dot_product_accumulate_int8",
    "cl_arm_integer_dot_product_accumulate_saturate_int8",
    "cl_arm_integer_dot_product_int8",
    "cl_intel_device_side_avc_motion_estimation",
    "cl_intel_subgroups",
    "cl_intel_subgroups_short",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_gl_msaa_sharing",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_mipmap_image",
    "cl_khr_mipmap_image_writes",
    "cl_khr_subgroups",
};
// Extensions of the same kind before OpenCL C 2.0, which includes them.
constexpr std::array<std::string_view, 2> kSwitchesBefore2 = {"cl_khr_3d_image_writes",
                                                              "cl_khr_depth_images"};
// Features of OpenCL C 3.0 that must agree with an extension for clang, or that stand for one.
constexpr std::array<ExtensionRow, 2> kFeatures = {{
    {"cl_khr_fp64", "__opencl_c_fp64"},
    {"cl_khr_subgroups", "__opencl_c_subgroups"},
}};

// Macros that come with an extension; if `also` is named, only with both extensions.
struct Companion {
  std::string_view extension;
  std::string_view also;
  std::string_view macro;
};
constexpr std::array<Companion, 16> kCompanions = {{
    {"cl_khr_integer_dot_product", "", "__opencl_c_integer_dot_product_input_4x8bit"},
    {"cl_khr_integer_dot_product", "", "__opencl_c_integer_dot_product_input_4x8bit_packed"},
    {"cl_ext_float_atomics", "", "__opencl_c_ext_fp32_global_atomic_add"},
    {"cl_ext_float_atomics", "", "__opencl_c_ext_fp32_global_atomic_min_max"},
    {"cl_ext_float_atomics", "", "__opencl_c_ext_fp32_local_atomic_add"},
    {"cl_ext_float_atomics", "", "__opencl_c_ext_fp32_local_atomic_min_max"},
    {"cl_ext_float_atomics", "cl_khr_fp16", "__opencl_c_ext_fp16_global_atomic_add"},
    {"cl_ext_float_atomics", "cl_khr_fp16", "__opencl_c_ext_fp16_global_atomic_load_store"},
    {"cl_ext_float_atomics", "cl_khr_fp16", "__opencl_c_ext_fp16_global_atomic_min_max"},
    {"cl_ext_float_atomics", "cl_khr_fp16", "__opencl_c_ext_fp16_local_atomic_add"},
    {"cl_ext_float_atomics", "cl_khr_fp16", "__opencl_c_ext_fp16_local_atomic_load_store"},
    {"cl_ext_float_atomics", "cl_khr_fp16", "__opencl_c_ext_fp16_local_atomic_min_max"},
    {"cl_ext_float_atomics", "cl_khr_fp64", "__opencl_c_ext_fp64_global_atomic_add"},
    {"cl_ext_float_atomics", "cl_khr_fp64", "__opencl_c_ext_fp64_global_atomic_min_max"},
    {"cl_ext_float_atomics", "cl_khr_fp64", "__opencl_c_ext_fp64_local_atomic_add"},
    {"cl_ext_float_atomics", "cl_khr_fp64", "__opencl_c_ext_fp64_local_atomic_min_max"},
}};
// Macros that clang's header defines for SPIR in OpenCL C 3.0; clang defines the others itself.
constexpr std::array<std::string_view, 5> kMacrosOf3 = {
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_read_write_images",
    "__opencl_c_work_group_collective_functions",
};

constexpr std::array<ExtensionRow, 15> kSpirv = {{
    {"cl_ext_float_atomics", "SPV_EXT_shader_atomic_float_add"},
    {"cl_ext_float_atomics", "SPV_EXT_shader_atomic_float_min_max"},
    {"cl_intel_bfloat16_conversions", "SPV_INTEL_bfloat16_conversion"},
    {"cl_intel_device_side_avc_motion_estimation", "SPV_INTEL_device_side_avc_motion_estimation"},
    {"cl_intel_media_block_io", "SPV_INTEL_media_block_io"},
    {"cl_intel_subgroups", "SPV_INTEL_subgroups"},
    {"cl_intel_subgroups_char", "SPV_INTEL_subgroups"},
    {"cl_intel_subgroups_long", "SPV_INTEL_subgroups"},
    {"cl_intel_subgroups_short", "SPV_INTEL_subgroups"},
    {"cl_khr_expect_assume", "SPV_KHR_expect_assume"},
    {"cl_khr_extended_bit_ops", "SPV_KHR_bit_instructions"},
    {"cl_khr_integer_dot_product", "SPV_KHR_integer_dot_product"},
    {"cl_khr_spirv_linkonce_odr", "SPV_KHR_linkonce_odr"},
    {"cl_khr_subgroup_rotate", "SPV_KHR_subgroup_rotate"},
    {"cl_khr_work_group_uniform_arithmetic", "SPV_KHR_uniform_group_instructions"},
}};

// Beginnings of the names of built-ins, and their extensions; the longest match is the likeliest.
constexpr ExtensionRow kNames[] = {
    {"amd_", "cl_amd_media_ops"},
    {"amd_", "cl_amd_media_ops2"},
    {"arm_dot", "cl_arm_integer_dot_product_int8"},
    {"arm_dot_acc", "cl_arm_integer_dot_product_accumulate_int8"},
    {"arm_dot_acc", "cl_arm_integer_dot_product_accumulate_int16"},
    {"arm_dot_acc_sat", "cl_arm_integer_dot_product_accumulate_saturate_int8"},
    {"arm_get_core_id", "cl_arm_get_core_id"},
    {"as_double", "cl_khr_fp64"},
    {"as_half", "cl_khr_fp16"},
    {"atom_", "cl_khr_int64_base_atomics"},
    {"atom_", "cl_khr_int64_extended_atomics"},
    {"atomic_", "cl_khr_int64_base_atomics"},
    {"atomic_", "cl_khr_int64_extended_atomics"},
    {"atomic_fetch_", "cl_ext_float_atomics"},
    {"bit_reverse", "cl_khr_extended_bit_ops"},
    {"bitfield_", "cl_khr_extended_bit_ops"},
    {"convert_double", "cl_khr_fp64"},
    {"convert_half", "cl_khr_fp16"},
    {"dot", "cl_khr_integer_dot_product"},
    {"double", "cl_khr_fp64"},
    {"get_", "cl_khr_subgroups"},
    {"get_sub_group_eq_mask", "cl_khr_subgroup_ballot"},
    {"get_sub_group_ge_mask", "cl_khr_subgroup_ballot"},
    {"get_sub_group_gt_mask", "cl_khr_subgroup_ballot"},
    {"get_sub_group_le_mask", "cl_khr_subgroup_ballot"},
    {"get_sub_group_lt_mask", "cl_khr_subgroup_ballot"},
    {"half", "cl_khr_fp16"},
    {"intel_convert_", "cl_intel_bfloat16_conversions"},
    {"intel_sub_group_", "cl_intel_subgroups_short"},
    {"intel_sub_group_", "cl_intel_subgroups_char"},
    {"intel_sub_group_avc_", "cl_intel_device_side_avc_motion_estimation"},
    {"intel_sub_group_block_", "cl_intel_subgroups"},
    {"intel_sub_group_block_", "cl_intel_subgroup_local_block_io"},
    {"intel_sub_group_block_read_uc", "cl_intel_subgroups_char"},
    {"intel_sub_group_block_read_ui", "cl_intel_subgroups_short"},
    {"intel_sub_group_block_read_ul", "cl_intel_subgroups_long"},
    {"intel_sub_group_block_read_us", "cl_intel_subgroups_short"},
    {"intel_sub_group_block_write_uc", "cl_intel_subgroups_char"},
    {"intel_sub_group_block_write_ui", "cl_intel_subgroups_short"},
    {"intel_sub_group_block_write_ul", "cl_intel_subgroups_long"},
    {"intel_sub_group_block_write_us", "cl_intel_subgroups_short"},
    {"intel_sub_group_media_block_", "cl_intel_media_block_io"},
    {"intel_sub_group_shuffle", "cl_intel_subgroups"},
    {"intel_work_group_barrier_", "cl_intel_split_work_group_barrier"},
    {"QCOM_CLK_FILTER_", "cl_qcom_filter_bicubic"},
    {"qcom_bitreverse", "cl_qcom_bitreverse"},
    {"qcom_block_match_", "cl_qcom_accelerated_image_ops"},
    {"qcom_box_", "cl_qcom_accelerated_image_ops"},
    {"qcom_convolve_image", "cl_qcom_accelerated_image_ops"},
    {"qcom_dot8_acc", "cl_qcom_dot_product8"},
    {"qcom_read_image", "cl_qcom_vector_image_ops"},
    {"qcom_sub_group_shuffle_", "cl_qcom_subgroup_shuffle"},
    {"qcom_udot8_acc", "cl_qcom_dot_product8"},
    {"qcom_weight_image_t", "cl_qcom_accelerated_image_ops"},
    {"qcom_write_image", "cl_qcom_vector_image_ops"},
    {"read_imageh", "cl_khr_fp16"},
    {"sub_group_", "cl_khr_subgroups"},
    {"sub_group_", "cl_khr_subgroup_extended_types"},
    {"sub_group_ballot", "cl_khr_subgroup_ballot"},
    {"sub_group_broadcast_first", "cl_khr_subgroup_ballot"},
    {"sub_group_clustered_", "cl_khr_subgroup_clustered_reduce"},
    {"sub_group_clustered_rotate", "cl_khr_subgroup_rotate"},
    {"sub_group_elect", "cl_khr_subgroup_non_uniform_vote"},
    {"sub_group_inverse_ballot", "cl_khr_subgroup_ballot"},
    {"sub_group_non_uniform_", "cl_khr_subgroup_non_uniform_arithmetic"},
    {"sub_group_non_uniform_all", "cl_khr_subgroup_non_uniform_vote"},
    {"sub_group_non_uniform_any", "cl_khr_subgroup_non_uniform_vote"},
    {"sub_group_non_uniform_broadcast", "cl_khr_subgroup_ballot"},
    {"sub_group_rotate", "cl_khr_subgroup_rotate"},
    {"sub_group_shuffle", "cl_khr_subgroup_shuffle"},
    {"sub_group_shuffle_down", "cl_khr_subgroup_shuffle_relative"},
    {"sub_group_shuffle_up", "cl_khr_subgroup_shuffle_relative"},
    {"work_group_", "cl_khr_work_group_uniform_arithmetic"},
    {"write_imageh", "cl_khr_fp16"},
};

struct Declarations {
  std::string_view beginning;  // of the extension's name
  const unsigned char *text;
  std::size_t size;
};
// Declarations of built-ins that clang lacks; a text declares those of each extension whose macro
// is defined.
const Declarations kDeclarations[] = {
    {"cl_arm_get_core_id", declarations_arm_get_core_id_data, declarations_arm_get_core_id_size},
    {"cl_intel_bfloat16_conversions", declarations_intel_bfloat16_conversions_data,
     declarations_intel_bfloat16_conversions_size},
    {"cl_intel_media_block_io", declarations_intel_media_block_io_data,
     declarations_intel_media_block_io_size},
    {"cl_intel_split_work_group_barrier", declarations_intel_split_work_group_barrier_data,
     declarations_intel_split_work_group_barrier_size},
    {"cl_intel_subgroup", declarations_intel_subgroups_data, declarations_intel_subgroups_size},
    {"cl_khr_work_group_uniform_arithmetic", declarations_khr_work_group_uniform_arithmetic_data,
     declarations_khr_work_group_uniform_arithmetic_size},
    {"cl_qcom_", declarations_qcom_data, declarations_qcom_size},
};

// Requirements that every device with OpenCL C 3.1 meets.
constexpr const char *kRequirementsOf31[] = {
    "extension:cl_khr_extended_bit_ops",
    "extension:cl_khr_subgroup_extended_types",
    "extension:cl_khr_subgroup_rotate",
    "extension:cl_khr_subgroup_shuffle",
    "extension:cl_khr_subgroup_shuffle_relative",
    "integer_dot_product",
    "subgroups",
};

// Whether only NVIDIA's devices meet these requirements.
bool is_nvidia(const std::vector<std::string> &requirements) {
  return std::any_of(requirements.begin(), requirements.end(), [](const std::string &requirement) {
    return requirement == "vendor:nvidia" || requirement.starts_with("compute_capability:");
  });
}

// Returns the extensions of every device that meets the requirements, sorted.
std::set<std::string, std::less<>> extensions_of(const std::vector<std::string> &requirements) {
  std::set<std::string, std::less<>> found;
  for (const std::string &requirement : requirements) {
    if (requirement.starts_with(kExtension)) found.insert(requirement.substr(kExtension.size()));
    for (const auto &[word, extension] : kWords) {
      if (requirement == word) found.emplace(extension);
    }
    for (const auto &[extension, feature] : kFeatures) {
      if (requirement == feature) found.emplace(extension);
    }
    for (const Companion &one : kCompanions) {
      if (requirement == one.macro) found.emplace(one.extension);
    }
  }
  // NVIDIA's devices have it by inline PTX, which clang does not accept for SPIR: clang gets the
  // other branch of the source.
  if (is_nvidia(requirements)) found.emplace("cl_khr_fp16");
  for (const auto &[extension, base] : kWrittenAgainst) {
    if (found.contains(extension)) found.emplace(base);
  }
  return found;
}

template <typename Extensions>
std::string switches_of(const Extensions &required, unsigned opencl_c) {
  std::string text;
  const auto add = [&](std::string_view name, bool on) {
    text += text.empty() ? "" : ",";
    text += on ? '+' : '-';
    text += name;
  };
  for (const std::string_view name : kSwitches) add(name, required.contains(name));
  if (opencl_c < 200) {
    for (const std::string_view name : kSwitchesBefore2) add(name, required.contains(name));
  }
  for (const auto &[extension, feature] : kFeatures) add(feature, required.contains(extension));
  return text;
}

constexpr std::size_t kMaxRounds = 4;      // compilations that each add something
constexpr std::size_t kMaxExtensions = 8;  // extensions that a source asks about

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns the words of a text that may be identifiers, each once, in their order.
std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  std::set<std::string_view> seen;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_of_name(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    if (!name.empty() && seen.insert(name).second) names.push_back(name);
    at = end + 1;
  }
  return names;
}

bool is_extension(std::string_view name) {
  constexpr std::array<std::string_view, 8> kVendors = {"khr", "ext",   "amd", "arm",
                                                        "img", "intel", "nv",  "qcom"};
  if (!name.starts_with("cl_")) return false;
  const std::string_view vendor = name.substr(3, name.substr(3).find('_'));
  return name.size() > 4 + vendor.size() &&
         std::find(kVendors.begin(), kVendors.end(), vendor) != kVendors.end();
}

// Returns the lines with errors, without the source lines that clang shows below them.
std::string errors_in(std::string_view messages) {
  std::string errors;
  while (!messages.empty()) {
    const std::string_view line = messages.substr(0, messages.find('\n'));
    messages.remove_prefix(std::min(line.size() + 1, messages.size()));
    const std::size_t at = line.find(" error: ");
    if (at != std::string_view::npos) errors.append(line.substr(at)).push_back('\n');
  }
  return errors;
}

class Search {
 public:
  Search(const std::vector<std::string> &met, const CompileWith &compile)
      : met_(met), compile_(compile) {}

  std::vector<std::string> run(std::string messages, std::string_view source) {
    std::optional<std::string> left = std::move(messages);
    for (std::size_t round = 0; left && round < kMaxRounds && add_for(*left); ++round) {
      left = compiled();
    }
    if (left && add_asked_about(source)) left = compiled();
    if (left) return {};
    drop_needless();
    return added_;
  }

 private:
  bool add(std::string requirement) {
    const auto has = [&](const std::vector<std::string> &list) {
      return std::find(list.begin(), list.end(), requirement) != list.end();
    };
    if (has(met_) || has(added_)) return false;
    added_.push_back(std::move(requirement));
    return true;
  }

  // Adds the likeliest missing requirement for each name. Returns whether it added any.
  bool add_for(std::string_view messages) {
    bool any = false;
    const std::string errors = errors_in(messages);
    for (const std::string_view name : names_in(errors)) {
      if (is_extension(name)) any |= add(requirement_of_extension(name));
      for (std::string &requirement : requirements_of_name(name)) {
        if (!add(std::move(requirement))) continue;
        any = true;
        break;
      }
    }
    return any;
  }

  bool add_asked_about(std::string_view source) {
    std::size_t count = 0;
    for (const std::string_view name : names_in(source)) {
      if (is_extension(name) && add(requirement_of_extension(name)) && ++count == kMaxExtensions)
        break;
    }
    return count != 0;
  }

  std::optional<std::string> compiled() const {
    std::vector<std::string> all = met_;
    all.insert(all.end(), added_.begin(), added_.end());
    return compile_(all);
  }

  void drop_needless() {
    for (std::size_t i = added_.size(); i-- > 0 && added_.size() > 1;) {
      const std::string dropped = added_[i];
      const auto place = added_.begin() + static_cast<std::ptrdiff_t>(i);
      added_.erase(place);
      if (compiled()) added_.insert(added_.begin() + static_cast<std::ptrdiff_t>(i), dropped);
    }
  }

  const std::vector<std::string> &met_;
  const CompileWith &compile_;
  std::vector<std::string> added_;
};

}  // namespace

Result<HostOptions> host_options(std::string_view options) {
  const auto words = source::option_words(options);
  if (!words) {
    return Status(Code::bad_input,
                  fmt::format("a quote is open in the build options: {}", options));
  }
  HostOptions result;
  bool may_have_operand = false;  // true after a vendor's own option
  for (auto word = words->begin(); word != words->end(); ++word) {
    std::string whole = word->text;
    const bool has_operand =
        whole.starts_with("-D") || whole.starts_with("-U") || whole.starts_with("-I");
    if (!whole.starts_with('-') && !may_have_operand) {
      return Status(Code::bad_input,
                    fmt::format("{} is no build option; one with a space has quotes around it, as "
                                "\"-DNAME=a b\" does: {}",
                                whole, options));
    }
    may_have_operand = !has_operand && !is_plain(whole) && whole.starts_with('-');
    if (!has_operand) {
      (is_plain(whole) ? result.kept : result.left_out).push_back(whole);
      continue;
    }
    if (whole.size() == 2) {
      if (std::next(word) == words->end()) {
        return Status(Code::bad_input, fmt::format("{} has no operand", whole));
      }
      whole += (++word)->text;
    }
    (whole.starts_with("-I") ? result.left_out : result.kept).push_back(whole);
  }
  return result;
}

std::optional<std::string> warn_of_option(std::string_view option) {
  if (option.starts_with("-I")) {
    return fmt::format("{} is for drivers alone; the manifest's include_dirs are searched", option);
  }
  std::vector<std::string> known(kPlainOptions.begin(), kPlainOptions.end());
  known.insert(known.end(), {"-cl-no-subgroup-ifp", "-cl-opt-disable"});
  const bool is_known = std::find(known.begin(), known.end(), option) != known.end();
  const auto meant = suggest(option, known);
  if (is_known || !meant || !option.starts_with("-cl-")) return std::nullopt;
  return fmt::format("unknown build option {}; did you mean {}?", option, *meant);
}

unsigned opencl_c_version(const std::vector<std::string> &options) {
  constexpr std::string_view kOption = "-cl-std=";
  unsigned version = 120;
  for (const std::string &option : options) {
    if (!option.starts_with(kOption)) continue;
    const std::string_view name = std::string_view(option).substr(kOption.size());
    if (name.starts_with("CLC++") || name.starts_with("clc++")) {
      version = name.substr(5) == "2021" ? 300 : 200;
    } else if (name.size() == 5 && name[3] == '.') {  // CL1.2
      version =
          100U * static_cast<unsigned>(name[2] - '0') + 10U * static_cast<unsigned>(name[4] - '0');
    }
  }
  return version;
}

std::vector<std::string> requirements_of_language(unsigned opencl_c) {
  if (opencl_c < 310) return {};
  return {std::begin(kRequirementsOf31), std::end(kRequirementsOf31)};
}

HostExtensions host_extensions(const std::vector<std::string> &requirements, unsigned opencl_c) {
  HostExtensions result;
  const auto required = extensions_of(requirements);
  result.switches = switches_of(required, opencl_c);
  result.macros.assign(required.begin(), required.end());
  for (const Companion &one : kCompanions) {
    const bool also = one.also.empty() || required.contains(one.also);
    if (also && required.contains(one.extension)) result.macros.emplace_back(one.macro);
  }
  if (opencl_c >= 300) {
    result.macros.insert(result.macros.end(), kMacrosOf3.begin(), kMacrosOf3.end());
    std::copy_if(requirements.begin(), requirements.end(), std::back_inserter(result.macros),
                 [](const std::string &one) { return one.starts_with("__opencl_c_"); });
  }
  std::sort(result.macros.begin(), result.macros.end());
  result.macros.erase(std::unique(result.macros.begin(), result.macros.end()), result.macros.end());
  for (std::string &macro : result.macros) macro += "=1";
  // Hides Qualcomm's kernel attribute, about which clang would warn.
  if (required.contains("cl_qcom_reqd_sub_group_size"))
    result.macros.emplace_back("qcom_reqd_sub_group_size(size)=unused");
  for (const Declarations &one : kDeclarations) {
    const bool needed = std::any_of(required.begin(), required.end(), [&](const auto &extension) {
      return extension.starts_with(one.beginning);
    });
    if (needed) result.declarations.append(reinterpret_cast<const char *>(one.text), one.size);
  }
  // Clang returns a half from a function only after the pragma. A source has its own.
  if (!result.declarations.empty() && required.contains("cl_khr_fp16")) {
    result.declarations = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" + result.declarations +
                          "#pragma OPENCL EXTENSION cl_khr_fp16 : disable\n";
  }
  return result;
}

std::vector<std::string> spirv_extensions(const std::vector<std::string> &requirements) {
  const auto required = extensions_of(requirements);
  std::set<std::string> found;
  for (const auto &[extension, spirv] : kSpirv) {
    if (required.contains(extension)) found.emplace(spirv);
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> requirements_of_name(std::string_view name) {
  std::vector<ExtensionRow> fits;
  std::copy_if(std::begin(kNames), std::end(kNames), std::back_inserter(fits),
               [&](const ExtensionRow &pair) { return name.starts_with(pair.first); });
  std::stable_sort(fits.begin(), fits.end(),
                   [](const ExtensionRow &one, const ExtensionRow &other) {
                     return one.first.size() > other.first.size();
                   });
  std::vector<std::string> found;
  for (const ExtensionRow &pair : fits) found.push_back(requirement_of_extension(pair.second));
  return found;
}

std::string requirement_of_extension(std::string_view extension) {
  for (const auto &[word, name] : kWords) {
    if (extension == name) return std::string(word);
  }
  return std::string(kExtension).append(extension);
}

std::vector<std::string> missing_requirements(const std::vector<std::string> &met,
                                              std::string_view messages, std::string_view source,
                                              const CompileWith &compile) {
  auto found = Search(met, compile).run(std::string(messages), source);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace kiln::builder
