// SPDX-License-Identifier: Apache-2.0
// Kinds of kernel arguments and parameters: the numbers of FORMAT.md, and the words in manifests
// and JSON.
#pragma once

#include <cstdint>

namespace kiln::packs {

// The thing that an argument is bound to when Kiln itself launches the variant (`kiln run`, checks,
// tuning, benchmarks).
enum class Role : std::uint8_t { input, output, width, height, parameter, depth, scratch, sampler };
inline constexpr const char *kRoleNames[] = {"input",     "output", "width",   "height",
                                             "parameter", "depth",  "scratch", "sampler"};

// The kind of memory. `image` is a 2D image. Local memory, which each work-group has for itself, is
// always scratch.
enum class ArgumentStorage : std::uint8_t {
  buffer,
  image,
  local,
  image1d,
  image1d_buffer,
  image1d_array,
  image2d_array,
  image3d
};
inline constexpr const char *kStorageNames[] = {"buffer",        "image",          "local",
                                                "image1d",       "image1d_buffer", "image1d_array",
                                                "image2d_array", "image3d"};

constexpr bool is_image(ArgumentStorage storage) {
  return storage != ArgumentStorage::buffer && storage != ArgumentStorage::local;
}

// Of a sampler, with OpenCL C's words; the order is that of OpenCL's numbers.
inline constexpr const char *kAddressingNames[] = {"none", "clamp_to_edge", "clamp", "repeat",
                                                   "mirrored_repeat"};
inline constexpr const char *kFilterNames[] = {"nearest", "linear"};

// The fields of a sampler, which the argument's value holds.
struct ArgumentSampler {
  std::uint8_t addressing = 1;  // index into kAddressingNames
  std::uint8_t filter = 0;      // index into kFilterNames
  bool normalized = false;

  constexpr std::int64_t value() const { return addressing + 8 * filter + (normalized ? 16 : 0); }
  // The value must be one of a sampler: is_sampler().
  static constexpr ArgumentSampler of(std::int64_t value) {
    return {static_cast<std::uint8_t>(value & 7), static_cast<std::uint8_t>(value >> 3 & 1),
            (value & 16) != 0};
  }
  static constexpr bool is_sampler(std::int64_t value) {
    return value >= 0 && value < 32 && (value & 7) < 5;
  }
};

// The type of an element of memory or of a component of a parameter, with OpenCL's names.
enum class ElementType : std::uint8_t {
  uchar_,
  ushort_,
  uint_,
  int_,
  float_,
  half_,
  char_,
  short_,
  long_,
  ulong_,
  double_
};
inline constexpr const char *kTypeNames[] = {"uchar", "ushort", "uint", "int",   "float", "half",
                                             "char",  "short",  "long", "ulong", "double"};

// The value of an image whose integers the kernel reads as they are; otherwise integers of 8 and 16
// bits are normalized, to 0 to 1 or -1 to 1.
inline constexpr std::int64_t kNotNormalized = 1;

// The memory that a pointer points to. An image is in global memory, a value is private.
enum class AddressSpace : std::uint8_t { private_, global, constant, local };
inline constexpr const char *kAddressSpaceNames[] = {"private", "global", "constant", "local"};

// How a kernel may use an image; `none` for anything else.
enum class ImageAccess : std::uint8_t { none, read_only, write_only, read_write };
inline constexpr const char *kImageAccessNames[] = {"none", "read_only", "write_only",
                                                    "read_write"};

// The qualifiers of a parameter, as bits. What a pointer points to is const or volatile; a pipe is
// named by the type of its packets.
inline constexpr std::uint8_t kConst = 1;
inline constexpr std::uint8_t kRestrict = 2;
inline constexpr std::uint8_t kVolatile = 4;
inline constexpr std::uint8_t kPipe = 8;
inline constexpr const char *kQualifierNames[] = {"const", "restrict", "volatile", "pipe"};

}  // namespace kiln::packs
