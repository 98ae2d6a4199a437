// SPDX-License-Identifier: Apache-2.0
// The C++ references by the names that manifests use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "builder/problem/plane.hpp"
#include "builder/problem/problem_size.hpp"

namespace kiln::builder {

// Values of a variant's parameters by name, one for each component.
using Parameters = std::map<std::string, std::vector<double>>;

// One of the planes that a reference takes or gives.
struct PlaneShape {
  std::string name;  // may be empty where it is the only one
  Type type = Type::uchar_;
  std::uint32_t channels = 1;
  std::string extent = "width height";  // terms, as in a manifest
};

struct ReferenceShape {
  std::vector<PlaneShape> inputs;
  std::vector<PlaneShape> outputs;
};

std::vector<std::string> reference_names();

// Nothing where no such reference exists.
std::optional<ReferenceShape> reference_shape(const std::string &name);

// A plane of that shape for a problem of that size, filled with zeros.
Plane blank_plane(const PlaneShape &shape, const ProblemSize &size);

// The reference's output planes. Empty where no such reference exists, or where the inputs do
// not have its shape.
std::vector<Plane> run_reference(const std::string &name, const ProblemSize &size,
                                 const std::vector<Plane> &inputs, const Parameters &parameters);

}  // namespace kiln::builder
