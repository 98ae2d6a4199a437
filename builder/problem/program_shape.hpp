// SPDX-License-Identifier: Apache-2.0
// The size of a problem, and the planes that a program's variants take for it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/problem/plane.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// What is computed: an image, a matrix, a row of values (height and depth 1), or a product of
// matrices (height x width out of height x depth and depth x width). Each at least 1.
struct ProblemSize {
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t depth = 1;
  bool operator==(const ProblemSize &) const = default;

  std::uint64_t elements() const;
};

// 2^64 - 1 if it is that or more: sizes come from people and packs, and a product that wraps is
// small.
std::uint64_t product(std::initializer_list<std::uint64_t> factors);
inline std::uint64_t ProblemSize::elements() const { return product({width, height, depth}); }

// "7680x4320", and with a depth "64x64x64".
std::string size_text(const ProblemSize &size);
// Nothing for any other text, and where a side is 0 or over 2^31.
std::optional<ProblemSize> parse_size(std::string_view text);

// [N*]NAME[/N][+N], the division rounded up; NAME is width, height or depth. Or a number.
struct Term {
  enum class Of : std::uint8_t { one, width, height, depth };
  std::uint32_t factor = 1;
  Of of = Of::one;
  std::uint32_t divisor = 1;
  std::uint32_t more = 0;

  std::uint64_t operator()(const ProblemSize &size) const;
};

inline constexpr const char *kTermRule =
    "expected [N*]NAME[/N][+N] with width, height or depth as NAME, or a number";

// Numbers are 1 to 65536, the one after '+' 0 to 65536.
std::optional<Term> parse_term(std::string_view text);

// One to three terms with a space between them; those that are left out are 1.
std::optional<std::vector<Term>> parse_terms(std::string_view text);
std::array<std::uint64_t, 3> evaluate(const std::vector<Term> &terms, const ProblemSize &size);

using packs::Argument;
using packs::Role;
using Storage = packs::ArgumentStorage;

// Values of a variant's parameters by name, one for each component.
using Parameters = std::map<std::string, std::vector<double>>;

// One of the planes that a program takes or gives.
struct PlaneShape {
  std::string name;  // may be empty if it is the only one
  Type type = Type::uchar_;
  std::uint32_t channels = 1;
  std::string extent = "width height";  // terms, as in a manifest
};

struct ProgramShape {
  std::vector<PlaneShape> inputs;
  std::vector<PlaneShape> outputs;
};

// The memory of that role that a variant with those arguments takes or gives, each name once.
// Arguments whose extent is none are left out.
std::vector<PlaneShape> memory_shapes(const std::vector<packs::Argument> &arguments,
                                      packs::Role role);

// Of a plane for a problem of that size.
std::uint64_t bytes_of(const PlaneShape &shape, const ProblemSize &size);

// A plane of that shape for a problem of that size, filled with zeros.
Plane blank_plane(const PlaneShape &shape, const ProblemSize &size);

// The planes that the host holds for a program whose variants have those shapes. Their names and
// types are the first variant's. Each has the extent of a variant with one element per pixel, or,
// if there is none, the smallest extent: an image whose texels pack several pixels is padded at the
// end of each row.
ProgramShape common_shape(const std::vector<ProgramShape> &variants);

}  // namespace kiln::builder
