// SPDX-License-Identifier: Apache-2.0
// What the host compile knows of OpenCL's extensions: it stands for a device that has exactly the
// extensions that a variant requires; and what a variant that clang refuses should require. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::builder {

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
