// SPDX-License-Identifier: Apache-2.0
// Parses and evaluates sizes ("640x480") and terms over them, and merges the memory that variants
// declare into the planes of a program.
#include "builder/problem/program_shape.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace kiln::builder {

namespace {

constexpr std::uint32_t kMaxNumber = 65536;
constexpr std::uint32_t kMaxSide = 1u << 31;

// Takes a number off the front of the text; nothing if there is none in that range.
std::optional<std::uint32_t> take_number(std::string_view *text, std::uint32_t low,
                                         std::uint32_t high) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || value < low || value > high) return std::nullopt;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return value;
}

bool take(std::string_view *text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

bool take_name(std::string_view *text, Term *term) {
  if (take(text, "width")) {
    term->of = Term::Of::width;
  } else if (take(text, "height")) {
    term->of = Term::Of::height;
  } else if (take(text, "depth")) {
    term->of = Term::Of::depth;
  } else {
    return false;
  }
  return true;
}

// The size at which shapes are compared. Its sides are prime, so that a row that is rounded up is
// longer than the plane's.
constexpr ProblemSize kSample{1009, 1013, 1019};

std::array<std::uint64_t, 3> sides_of(const PlaneShape &shape, const ProblemSize &size) {
  return evaluate(parse_terms(shape.extent).value(), size);
}

// Whether shape `a` describes the plane better than shape `b`.
bool plainer(const PlaneShape &a, const PlaneShape &b) {
  const bool whole_a = a.extent == PlaneShape{}.extent;
  const bool whole_b = b.extent == PlaneShape{}.extent;
  return whole_a != whole_b ? whole_a : bytes_of(a, kSample) < bytes_of(b, kSample);
}

void improve(std::vector<PlaneShape> *planes, const std::vector<PlaneShape> &others) {
  const bool single = planes->size() == 1 && others.size() == 1;
  for (PlaneShape &plane : *planes) {
    for (const PlaneShape &other : others) {
      if (other.type != plane.type || (!single && other.name != plane.name)) continue;
      if (!plainer(other, plane)) continue;
      plane.channels = other.channels;
      plane.extent = other.extent;
    }
  }
}

}  // namespace

std::string size_text(const ProblemSize &size) {
  const std::string plane = fmt::format("{}x{}", size.width, size.height);
  return size.depth == 1 ? plane : fmt::format("{}x{}", plane, size.depth);
}

std::optional<ProblemSize> parse_size(std::string_view text) {
  ProblemSize size;
  std::uint32_t *const sides[] = {&size.width, &size.height, &size.depth};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto side = take_number(&text, 1, kMaxSide);
    if (!side) return std::nullopt;
    *sides[i] = *side;
    if (text.empty()) return size;
    if (!take(&text, "x")) return std::nullopt;
  }
  return std::nullopt;
}

std::uint64_t product(std::initializer_list<std::uint64_t> factors) {
  std::uint64_t result = 1;
  for (const std::uint64_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) return ~std::uint64_t{0};
  }
  return result;
}

std::uint64_t Term::operator()(const ProblemSize &size) const {
  std::uint64_t base = 1;
  if (of == Of::width) base = size.width;
  if (of == Of::height) base = size.height;
  if (of == Of::depth) base = size.depth;
  return (base * factor + divisor - 1) / divisor + more;
}

std::optional<Term> parse_term(std::string_view text) {
  Term term;
  const bool number_first = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (number_first) {
    const auto factor = take_number(&text, 1, kMaxNumber);
    if (!factor) return std::nullopt;
    term.factor = *factor;
    if (text.empty()) return term;
    if (!take(&text, "*")) return std::nullopt;
  }
  if (!take_name(&text, &term)) return std::nullopt;
  if (take(&text, "/")) {
    const auto divisor = take_number(&text, 1, kMaxNumber);
    if (!divisor) return std::nullopt;
    term.divisor = *divisor;
  }
  if (take(&text, "+")) {
    const auto more = take_number(&text, 0, kMaxNumber);
    if (!more) return std::nullopt;
    term.more = *more;
  }
  return text.empty() ? std::optional(term) : std::nullopt;
}

std::optional<std::vector<Term>> parse_terms(std::string_view text) {
  std::vector<Term> terms;
  while (terms.size() < 3) {
    const std::size_t space = text.find(' ');
    const auto term = parse_term(text.substr(0, space));
    if (!term) return std::nullopt;
    terms.push_back(*term);
    if (space == std::string_view::npos) return terms;
    text.remove_prefix(space + 1);
  }
  return std::nullopt;
}

std::array<std::uint64_t, 3> evaluate(const std::vector<Term> &terms, const ProblemSize &size) {
  std::array<std::uint64_t, 3> sides{1, 1, 1};
  for (std::size_t i = 0; i < terms.size() && i < 3; ++i) sides[i] = terms[i](size);
  return sides;
}

std::vector<PlaneShape> memory_shapes(const std::vector<packs::Argument> &arguments,
                                      packs::Role role) {
  std::vector<PlaneShape> shapes;
  for (const packs::Argument &a : arguments) {
    const bool known = std::any_of(shapes.begin(), shapes.end(),
                                   [&](const PlaneShape &shape) { return shape.name == a.name; });
    if (a.role != role || known) continue;
    PlaneShape shape{a.name, a.type, a.channels};
    if (!a.extent.empty()) shape.extent = a.extent;
    if (parse_terms(shape.extent)) shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::uint64_t bytes_of(const PlaneShape &shape, const ProblemSize &size) {
  const auto sides = sides_of(shape, size);
  return product({sides[0], sides[1], sides[2], shape.channels, size_of(shape.type)});
}

Plane blank_plane(const PlaneShape &shape, const ProblemSize &size) {
  const auto sides = sides_of(shape, size);
  Plane plane{static_cast<std::uint32_t>(sides[0]),
              static_cast<std::uint32_t>(sides[1] * sides[2]),
              shape.channels,
              shape.name,
              {},
              shape.type};
  plane.pixels.resize(plane.row_bytes() * plane.height);
  return plane;
}

ProgramShape common_shape(const std::vector<ProgramShape> &variants) {
  if (variants.empty()) return {};
  ProgramShape shape = variants.front();
  for (const ProgramShape &variant : variants) {
    improve(&shape.inputs, variant.inputs);
    improve(&shape.outputs, variant.outputs);
  }
  return shape;
}

}  // namespace kiln::builder
