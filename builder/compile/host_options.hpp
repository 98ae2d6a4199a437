// SPDX-License-Identifier: Apache-2.0
// Build options and OpenCL extensions for the host compile. It stands for a device that has exactly
// the extensions that a variant requires, and suggests requirements for a variant that clang
// refuses. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// Build options split into words; double quotes keep spaces together.
struct HostOptions {
  std::vector<std::string> kept;      // -D -U -w -Werror and the -cl-* options that clang knows
  std::vector<std::string> left_out;  // vendors' own options; -I, since includes are flattened;
                                      // -cl-opt-disable, since nothing is optimised here
};
// Sorts the build options. Fails with Code::bad_input if a quote is open, -D, -U or -I has no
// operand, or a word is neither an option nor a possible operand of a vendor's own option.
Result<HostOptions> host_options(std::string_view options);

// Returns a warning about an option that was left out: drivers know it by another spelling, or it
// has another effect there.
std::optional<std::string> warn_of_option(std::string_view option);

// Returns the OpenCL C version of the last -cl-std, in the form of __OPENCL_C_VERSION__; 120
// without a -cl-std, 200 for C++ for OpenCL 1.0, 300 for C++ for OpenCL 2021.
unsigned opencl_c_version(const std::vector<std::string> &options);

// Returns the requirements that every device with this OpenCL C version meets.
std::vector<std::string> requirements_of_language(unsigned opencl_c);

struct HostExtensions {
  std::vector<std::string> macros;  // to define before clang's own header: "cl_khr_fp16=1"
  std::string switches;             // the operand of clang's -cl-ext
  std::string declarations;         // OpenCL C declarations of built-ins that clang does not know
};

// Returns the extensions of a variant with these requirements. `opencl_c` is the language version
// as in __OPENCL_C_VERSION__: its own features need no requirement.
HostExtensions host_extensions(const std::vector<std::string> &requirements, unsigned opencl_c);

// Returns the SPIR-V extensions that a variant with these requirements may use, sorted.
std::vector<std::string> spirv_extensions(const std::vector<std::string> &requirements);

// Returns the requirements that may declare a built-in function or type, the likeliest first. Empty
// for any other name.
std::vector<std::string> requirements_of_name(std::string_view name);

// Returns the requirement for an extension: "fp16" for cl_khr_fp16, else "extension:NAME".
std::string requirement_of_extension(std::string_view extension);

// Compiles for a device with these requirements and returns clang's messages; nothing if the
// program compiles.
using CompileWith =
    std::function<std::optional<std::string>(const std::vector<std::string> &requirements)>;

// Returns the requirements to add to `met` so that a program with these messages compiles; all of
// them are needed. They come from the names of built-ins and extensions in the messages, then from
// the extensions that the source asks about. Empty if none help. Calls `compile` several times.
std::vector<std::string> missing_requirements(const std::vector<std::string> &met,
                                              std::string_view messages, std::string_view source,
                                              const CompileWith &compile);

}  // namespace kiln::builder
