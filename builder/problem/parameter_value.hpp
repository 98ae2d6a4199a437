// SPDX-License-Identifier: Apache-2.0
// The values of kernels' parameters: scalars, vectors and structs, their limits and their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/problem/plane.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A scalar or a vector; a parameter is one, or a struct of several.
struct ParameterField {
  Type type = Type::uint_;
  unsigned components = 1;

  // A vector of 3 takes as many bytes as one of 4.
  std::size_t bytes() const { return (components == 3 ? 4 : components) * size_of(type); }
};

// Reads OpenCL C's name of a scalar or vector, such as "float4".
std::optional<ParameterField> parse_field(std::string_view text);

// Returns a struct's fields, or the one field of another parameter.
std::vector<ParameterField> fields_of(const packs::Argument &parameter);

// The numbers that a component can be. A double holds 64-bit integers up to 2^53.
struct ValueRange {
  double low = 0;
  double high = 0;
  bool is_whole = true;  // integers only
};

ValueRange range_of(Type type);

// Returns the number of components of all fields.
std::size_t component_count(const std::vector<ParameterField> &fields);

// Fails with Code::bad_argument if the fields cannot have these values, one for each component. The
// message goes on after the name of a parameter: "is a whole number from 0 to 255, not 300".
Status check_values(const std::vector<ParameterField> &fields, const std::vector<double> &values);

// Returns the values as the kernel takes them. Fields lie as in a struct of OpenCL C.
std::vector<std::uint8_t> value_bytes(const std::vector<ParameterField> &fields,
                                      const std::vector<double> &values);

}  // namespace kiln::builder
