// SPDX-License-Identifier: Apache-2.0
#include "builder/problem/reference.hpp"

#include <algorithm>

#include "kernels/bezier/bezier_reference.hpp"
#include "kernels/bicubic/bicubic_reference.hpp"
#include "kernels/block_match/block_match_reference.hpp"
#include "kernels/box/box_reference.hpp"
#include "kernels/dot/dot_reference.hpp"
#include "kernels/epsilon/epsilon_reference.hpp"
#include "kernels/fill/fill_reference.hpp"
#include "kernels/gemm_u8/gemm_u8_reference.hpp"
#include "kernels/laplace/laplace_reference.hpp"
#include "kernels/matrix_add/matrix_add_reference.hpp"
#include "kernels/reduce/reduce_reference.hpp"
#include "kernels/sobel/sobel_reference.hpp"
#include "kernels/vector_add/vector_add_reference.hpp"

namespace kiln::builder {
namespace {

using Planes = std::vector<Plane>;

struct Call {
  const ProblemSize &size;
  const Planes &inputs;
  Planes &outputs;
  const Parameters &parameters;

  template <typename T = std::uint8_t>
  const T *in(std::size_t i) const {
    return inputs[i].as<T>();
  }
  template <typename T = std::uint8_t>
  T *out(std::size_t i) const {
    return outputs[i].as<T>();
  }
  // The parameter's components; zeros where it was not given.
  std::vector<float> numbers(const char *name, std::size_t count) const {
    std::vector<float> values(count);
    const auto found = parameters.find(name);
    if (found == parameters.end()) return values;
    for (std::size_t i = 0; i < std::min(count, found->second.size()); ++i) {
      values[i] = static_cast<float>(found->second[i]);
    }
    return values;
  }
};

struct Case {
  const char *name;
  ReferenceShape shape;
  void (*run)(const Call &call);
};

void run_bezier(const Call &c) {
  reference::bezier(c.numbers("x", 16).data(), c.numbers("y", 16).data(), c.numbers("z", 16).data(),
                    c.out<float>(0), c.out<float>(1), c.size.width, c.size.height);
}

void run_bicubic(const Call &c) {
  reference::bicubic(c.in(0), c.out(0), c.size.width, c.size.height);
}

void run_block_match_sad(const Call &c) {
  reference::block_match_sad(c.in(0), c.in(1), c.out<std::uint32_t>(0), c.out(1), c.size.width,
                             c.size.height);
}

void run_block_match_ssd(const Call &c) {
  reference::block_match_ssd(c.in(0), c.in(1), c.out<std::uint32_t>(0), c.out(1), c.size.width,
                             c.size.height);
}

void run_box(const Call &c) { reference::box(c.in(0), c.out(0), c.size.width, c.size.height); }

void run_dot(const Call &c) {
  reference::dot(c.in<float>(0), c.in<float>(1), c.out<float>(0),
                 std::size_t{c.size.width} * c.size.height);
}

void run_epsilon(const Call &c) {
  const auto threshold = static_cast<unsigned>(c.numbers("threshold", 1)[0]);
  reference::epsilon(c.in(0), c.out(0), c.size.width, c.size.height, threshold);
}

void run_fill(const Call &c) { reference::fill(c.out(0), c.size.width); }

void run_gemm_u8(const Call &c) {
  reference::gemm_u8(c.in(0), c.in(1), c.out<std::uint32_t>(0), c.size.width, c.size.height,
                     c.size.depth);
}

void run_laplace(const Call &c) {
  reference::laplace(c.in(0), c.out(0), c.size.width, c.size.height);
}

void run_matrix_add(const Call &c) {
  reference::matrix_add(c.in<float>(0), c.in<float>(1), c.out<float>(0), c.size.width,
                        c.size.height);
}

void run_reduce(const Call &c) {
  reference::reduce(c.in<std::uint32_t>(0), c.out<std::uint32_t>(0), c.size.width);
}

void run_sobel(const Call &c) {
  reference::sobel(c.in(0), c.out(0), c.out(1), c.size.width, c.size.height);
}

void run_vector_add(const Call &c) {
  reference::vector_add(c.in<std::int32_t>(0), c.in<std::int32_t>(1), c.out<std::int32_t>(0),
                        c.size.width);
}

// Of one row of values.
PlaneShape row(const char *name, Type type) { return {name, type, 1, "width"}; }

const std::vector<Case> &cases() {
  using enum Type;
  const PlaneShape luma{};
  const PlaneShape rgb{"", uchar_, 3};
  const PlaneShape rgba{"", uchar_, 4};
  const ReferenceShape match = {
      {{"target"}, {"reference"}},
      {{"cost", uint_, 1, "width/8 height/8"}, {"vector", uchar_, 2, "width/8 height/8"}}};
  static const std::vector<Case> all = {
      {"bezier", {{}, {{"position", float_, 4}, {"st", float_, 2}}}, run_bezier},
      {"bicubic", {{rgba}, {{"", uchar_, 4, "2*width 2*height"}}}, run_bicubic},
      {"block_match_sad", match, run_block_match_sad},
      {"block_match_ssd", match, run_block_match_ssd},
      {"box", {{rgba}, {rgba}}, run_box},
      {"dot", {{{"a", float_, 4}, {"b", float_, 4}}, {{"", float_}}}, run_dot},
      {"epsilon", {{luma}, {luma}}, run_epsilon},
      {"fill", {{}, {row("", uchar_)}}, run_fill},
      {"gemm_u8",
       {{{"a", uchar_, 1, "depth height"}, {"b", uchar_, 1, "depth width"}}, {{"", uint_}}},
       run_gemm_u8},
      {"laplace", {{rgb}, {rgb}}, run_laplace},
      {"matrix_add", {{{"a", float_}, {"b", float_}}, {{"", float_}}}, run_matrix_add},
      {"reduce", {{row("", uint_)}, {{"", uint_, 1, "1"}}}, run_reduce},
      {"sobel", {{luma}, {{"x"}, {"y"}}}, run_sobel},
      {"vector_add", {{row("a", int_), row("b", int_)}, {row("", int_)}}, run_vector_add},
  };
  return all;
}

const Case *find_case(const std::string &name) {
  const auto found =
      std::find_if(cases().begin(), cases().end(), [&](const Case &c) { return c.name == name; });
  return found == cases().end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> reference_names() {
  std::vector<std::string> names;
  for (const Case &c : cases()) names.emplace_back(c.name);
  return names;
}

std::optional<ReferenceShape> reference_shape(const std::string &name) {
  const Case *found = find_case(name);
  return found == nullptr ? std::nullopt : std::optional(found->shape);
}

Plane blank_plane(const PlaneShape &shape, const ProblemSize &size) {
  const auto sides = evaluate(parse_terms(shape.extent).value(), size);
  Plane plane{static_cast<std::uint32_t>(sides[0]),
              static_cast<std::uint32_t>(sides[1]),
              shape.channels,
              shape.name,
              {},
              shape.type};
  plane.pixels.resize(plane.row_bytes() * plane.height);
  return plane;
}

std::vector<Plane> run_reference(const std::string &name, const ProblemSize &size,
                                 const std::vector<Plane> &inputs, const Parameters &parameters) {
  const Case *found = find_case(name);
  if (found == nullptr || found->shape.inputs.size() != inputs.size()) return {};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!same_shape(inputs[i], blank_plane(found->shape.inputs[i], size))) return {};
  }
  std::vector<Plane> outputs;
  for (const PlaneShape &shape : found->shape.outputs) outputs.push_back(blank_plane(shape, size));
  found->run({size, inputs, outputs, parameters});
  return outputs;
}

}  // namespace kiln::builder
