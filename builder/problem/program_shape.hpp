// SPDX-License-Identifier: Apache-2.0
// The size of a problem, and the planes that a program takes and gives at that size.
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

// The size of the computed image, matrix, row of values (height and depth 1), or product of
// matrices (height x width from height x depth and depth x width). Each side is at least 1.
struct ProblemSize {
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t depth = 1;
  bool operator==(const ProblemSize &) const = default;

  std::uint64_t elements() const;
};

// Returns the product, at most 2^64 - 1: sizes come from people and packs, and a product that wraps
// would look small.
std::uint64_t product(std::initializer_list<std::uint64_t> factors);
inline std::uint64_t ProblemSize::elements() const { return product({width, height, depth}); }

// Returns "7680x4320", or with a depth "64x64x64".
std::string size_text(const ProblemSize &size);
// Parses the text of a size; nothing for any other text, or if a side is 0 or over 2^31.
std::optional<ProblemSize> parse_size(std::string_view text);

// A number, or [N*]NAME[/N][+N] with a division that rounds up; NAME is width, height or depth.
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

// Parses a term. Numbers are 1 to 65536; the number after '+' is 0 to 65536.
std::optional<Term> parse_term(std::string_view text);

// Parses one to three terms with a space between them; missing terms are 1.
std::optional<std::vector<Term>> parse_terms(std::string_view text);
std::array<std::uint64_t, 3> evaluate(const std::vector<Term> &terms, const ProblemSize &size);

using packs::Argument;
using packs::Role;
using Storage = packs::ArgumentStorage;

// Values of a variant's parameters by name, one value for each component.
using Parameters = std::map<std::string, std::vector<double>>;

// One of the planes that a program takes or gives.
struct PlaneShape {
  std::string name;  // may be empty for an only plane
  Type type = Type::uchar_;
  std::uint32_t channels = 1;
  std::string extent = "width height";  // terms, as in a manifest
};

struct ProgramShape {
  std::vector<PlaneShape> inputs;
  std::vector<PlaneShape> outputs;
};

// Returns the memory with that role that a variant with these arguments takes or gives, each name
// once. Leaves out arguments with extent none.
std::vector<PlaneShape> memory_shapes(const std::vector<packs::Argument> &arguments,
                                      packs::Role role);

// Returns the size in bytes of a plane for a problem of that size.
std::uint64_t bytes_of(const PlaneShape &shape, const ProblemSize &size);

// Returns a plane of that shape for a problem of that size, filled with zeros.
Plane blank_plane(const PlaneShape &shape, const ProblemSize &size);

// Returns the planes that the host holds for a program whose variants have these shapes. Names and
// types are the first variant's. Each plane has the extent of a variant with one element per pixel,
// or, if there is none, the smallest extent: an image whose texels pack several pixels is padded at
// the end of each row.
ProgramShape common_shape(const std::vector<ProgramShape> &variants);

}  // namespace kiln::builder
