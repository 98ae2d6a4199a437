// SPDX-License-Identifier: Apache-2.0
// What a kernel's arguments are: the numbers that FORMAT.md gives, and the words by which manifests
// and JSON call them.
#pragma once

#include <cstdint>

namespace kiln::packs {

// What an argument is bound to when Kiln itself launches the variant (`kiln run`, checks, tuning,
// benchmarks).
enum class Role : std::uint8_t { input, output, width, height, parameter, depth, scratch };
inline constexpr const char *kRoleNames[] = {"input",     "output", "width",  "height",
                                             "parameter", "depth",  "scratch"};

// Of memory. An image is 2D; of uchar it is CL_UNORM_INT8.
enum class ArgumentStorage : std::uint8_t { buffer, image };
inline constexpr const char *kStorageNames[] = {"buffer", "image"};

// Of an element of memory or a component of a parameter, with OpenCL's names.
enum class ElementType : std::uint8_t { uchar_, ushort_, uint_, int_, float_, half_ };
inline constexpr const char *kTypeNames[] = {"uchar", "ushort", "uint", "int", "float", "half"};

}  // namespace kiln::packs
