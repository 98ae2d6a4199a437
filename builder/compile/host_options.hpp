// SPDX-License-Identifier: Apache-2.0
// What the host compile knows of build options and of OpenCL's extensions. It stands for a device
// that has exactly the extensions that a variant requires, and says what a variant that clang
// refuses should require. Pure.
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
  std::vector<std::string> kept;      // -D -U -w -Werror and the -cl-* that clang knows
  std::vector<std::string> left_out;  // vendors' own; -I, since includes are flattened;
                                      // -cl-opt-disable, since nothing is optimised here
};
// Fails with Code::bad_input when a quote is open, -D, -U, -I has no operand, or a word is neither
// an option nor what may be the operand of a vendor's own.
Result<HostOptions> host_options(std::string_view options);

// What to say of an option that was left out: one that drivers know too, but by another spelling,
// or that does not do here what it does there.
std::optional<std::string> warn_of_option(std::string_view option);

// The OpenCL C version that the last -cl-std names, as __OPENCL_C_VERSION__ has it; 120 without a
// -cl-std. For C++ for OpenCL 1.0 it is 200, for C++ for OpenCL 2021 it is 300.
unsigned opencl_c_version(const std::vector<std::string> &options);

struct HostExtensions {
  std::vector<std::string> macros;  // to define before clang's own header: "cl_khr_fp16=1"
  std::string switches;             // the operand of clang's -cl-ext
  std::string declarations;         // of built-ins that clang does not know; OpenCL C
};

// Of a variant with these requirements. `opencl_c` is the version of the language as in
// __OPENCL_C_VERSION__: what is in it is there without a requirement.
HostExtensions host_extensions(const std::vector<std::string> &requirements, unsigned opencl_c);

// The SPIR-V extensions that a variant with these requirements may use, sorted.
std::vector<std::string> spirv_extensions(const std::vector<std::string> &requirements);

// The requirements that may declare a built-in function or type, the likeliest first. Empty for
// another name.
std::vector<std::string> requirements_of_name(std::string_view name);

// The requirement for an extension: "fp16" of cl_khr_fp16, else "extension:NAME".
std::string requirement_of_extension(std::string_view extension);

// Clang's messages on a device with these requirements; none where the program compiles.
using CompileWith =
    std::function<std::optional<std::string>(const std::vector<std::string> &requirements)>;

// The requirements to add to `met` so that a program compiles whose messages these are; none of
// them can be left out. Taken from the names of built-ins and extensions in the messages, then from
// the extensions that the source asks about. Empty if none help. Calls `compile` some times.
std::vector<std::string> missing_requirements(const std::vector<std::string> &met,
                                              std::string_view messages, std::string_view source,
                                              const CompileWith &compile);

}  // namespace kiln::builder
