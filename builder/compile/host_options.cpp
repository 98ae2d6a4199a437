// SPDX-License-Identifier: Apache-2.0
// The options of OpenCL that clang takes as they are; requirements as SPIR-V extensions.
#include "builder/compile/host_options.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

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

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kExtensions = {{
    {"extension:cl_intel_subgroups", "SPV_INTEL_subgroups"},
    {"extension:cl_intel_subgroups_char", "SPV_INTEL_subgroups"},
    {"extension:cl_intel_subgroups_short", "SPV_INTEL_subgroups"},
    {"extension:cl_khr_expect_assume", "SPV_KHR_expect_assume"},
    {"extension:cl_khr_integer_dot_product", "SPV_KHR_integer_dot_product"},
    {"integer_dot_product", "SPV_KHR_integer_dot_product"},
}};

bool is_plain(std::string_view word) {
  return std::binary_search(kPlainOptions.begin(), kPlainOptions.end(), word) ||
         word.starts_with("-cl-std=");
}

}  // namespace

Result<HostOptions> host_options(std::string_view options) {
  const auto words = source::option_words(options);
  if (!words) {
    return Status(Code::bad_input,
                  fmt::format("a quote is open in the build options: {}", options));
  }
  HostOptions result;
  for (auto word = words->begin(); word != words->end(); ++word) {
    std::string whole = word->text;
    const bool has_operand =
        whole.starts_with("-D") || whole.starts_with("-U") || whole.starts_with("-I");
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

std::vector<std::string> spirv_extensions(const std::vector<std::string> &requirements) {
  std::vector<std::string> found;
  for (const auto &[requirement, extension] : kExtensions) {
    if (std::find(requirements.begin(), requirements.end(), requirement) != requirements.end()) {
      found.emplace_back(extension);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool is_about_doubles(std::string_view source, std::string_view options,
                      const std::vector<std::string> &requirements) {
  if (std::find(requirements.begin(), requirements.end(), "fp64") != requirements.end())
    return true;
  for (const std::string_view text : {source, options}) {
    for (const std::string_view word : {"double", "fp64"}) {
      if (text.find(word) != std::string_view::npos) return true;
    }
  }
  return false;
}

}  // namespace kiln::builder
