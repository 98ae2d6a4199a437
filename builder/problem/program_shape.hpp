// SPDX-License-Identifier: Apache-2.0
// The planes that a program takes and gives, and its parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "builder/problem/plane.hpp"
#include "builder/problem/problem_size.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

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
