// SPDX-License-Identifier: Apache-2.0
// Unites the memory that variants declare into the planes that a program has.
#include "builder/problem/program_shape.hpp"

#include <algorithm>

namespace kiln::builder {
namespace {

// Where shapes are compared: with prime sides, a row that is rounded up is longer than the plane's.
constexpr ProblemSize kSample{1009, 1013, 1019};

std::array<std::uint64_t, 3> sides_of(const PlaneShape &shape, const ProblemSize &size) {
  return evaluate(parse_terms(shape.extent).value(), size);
}

// Whether memory of shape `a` says more of the plane than memory of shape `b`.
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
