// SPDX-License-Identifier: Apache-2.0
// Kinds of kernel arguments: the numbers of FORMAT.md, and the words in manifests and JSON.
#pragma once

#include <cstdint>

namespace kiln::packs {

// The thing that an argument is bound to when Kiln itself launches the variant (`kiln run`, checks,
// tuning, benchmarks).
enum class Role : std::uint8_t { input, output, width, height, parameter, depth, scratch };
inline constexpr const char *kRoleNames[] = {"input",     "output", "width",  "height",
                                             "parameter", "depth",  "scratch"};

// The kind of memory. An image is 2D; an image of uchar is CL_UNORM_INT8. Local memory, which each
// work-group has for itself, is always scratch.
enum class ArgumentStorage : std::uint8_t { buffer, image, local };
inline constexpr const char *kStorageNames[] = {"buffer", "image", "local"};

// The type of an element of memory or of a component of a parameter, with OpenCL's names.
enum class ElementType : std::uint8_t { uchar_, ushort_, uint_, int_, float_, half_ };
inline constexpr const char *kTypeNames[] = {"uchar", "ushort", "uint", "int", "float", "half"};

}  // namespace kiln::packs
