// SPDX-License-Identifier: Apache-2.0
// What a kernel's parameter takes, read from its text, which is clang's or the driver's, and what
// an argument of a manifest is. Pure; the launch functions and the host step compare both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/launch.h"
#include "kiln/packs/argument_words.hpp"

namespace kiln::runtime {

// The type that an argument takes: a kiln_type, or one of these values.
enum : unsigned {
  kTakesBuffer = KILN_TYPE_DOUBLE + 1,
  kTakesImage,
  kTakesLocal,
  kTakesSide,  // a side of the problem: int or uint, the manifest does not say which
  kTakesSampler,
  kTakesSvm,   // only given: a parameter that takes a buffer takes it, too
  kTakesOther  // only taken: a pipe, or a value of a type that OpenCL C does not define
};

struct Taken {
  unsigned type = 0;        // a kiln_type or kTakes...
  unsigned components = 1;  // of a value
};

// A parameter of a kernel, as packs::Parameter.
struct KnownParameter {
  bool is_known = false;  // false: the pack does not know it
  std::string_view name{};
  std::string_view type{};
  std::uint32_t size = 0;
  packs::AddressSpace address_space = packs::AddressSpace::private_;
  packs::ImageAccess access = packs::ImageAccess::none;
  std::uint8_t qualifiers = 0;
};

// Returns a type as text: "float4", "a buffer".
std::string type_text(unsigned type, unsigned components);

// Returns the bytes of a component of a kiln_type.
std::size_t component_size(unsigned type);

// Reads the name of a scalar or vector, such as "float4".
bool read_value_type(std::string_view text, Taken *out);

// Whether OpenCL C has vectors of so many components; it has scalars.
bool is_vector_width(unsigned components);

bool is_pipe(const KnownParameter &parameter);

// Whether clSetKernelArg takes a pointer to an object of OpenCL.
bool is_handle(const KnownParameter &parameter);

// Whether a parameter that takes the one type takes the other.
bool is_taken_as(unsigned given, unsigned takes);

// Returns what the parameter takes.
Taken taken_by(const KnownParameter &parameter);

// Returns what an argument of the manifest is.
Taken taken_by(packs::Role role, packs::ArgumentStorage storage, packs::ElementType type,
               unsigned channels);

// Whether the parameter, which is known, takes such a value. A name that OpenCL C does not define
// may stand for any type of the same size.
bool fits(const KnownParameter &parameter, unsigned given, unsigned components);

// Whether the parameter, which takes an image, takes one of this kind, such as "image2d_t".
bool takes_image(const KnownParameter &parameter, std::string_view image);

// Returns "global const float4* src", as far as it is known.
std::string declared_text(const KnownParameter &parameter);

}  // namespace kiln::runtime
