// SPDX-License-Identifier: Apache-2.0
// The options of OpenCL that clang takes as they are.
#include "builder/compile/host_options.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "builder/base/suggest.hpp"
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

}  // namespace

Result<HostOptions> host_options(std::string_view options) {
  const auto words = source::option_words(options);
  if (!words) {
    return Status(Code::bad_input,
                  fmt::format("a quote is open in the build options: {}", options));
  }
  HostOptions result;
  bool may_have_operand = false;  // an option of a vendor's own
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

}  // namespace kiln::builder
