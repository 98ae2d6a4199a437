#include "reference.hpp"

#include <algorithm>

#include "epsilon/epsilon_reference.hpp"
#include "laplace/laplace_reference.hpp"
#include "sobel/sobel_reference.hpp"

namespace kiln::builder {
namespace {

using Planes = std::vector<Plane>;

struct Call {
  const Size &size;
  const Planes &in;
  Planes &out;
  const Parameters &parameters;

  // The parameter's first component; 0 where there is no such parameter.
  unsigned number(const char *name) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? 0 : static_cast<unsigned>(found->second.at(0));
  }
};

struct Case {
  const char *name;
  ReferenceShape shape;
  void (*run)(const Call &call);
};

void run_epsilon(const Call &c) {
  reference::epsilon(c.in[0].as<std::uint8_t>(), c.out[0].as<std::uint8_t>(), c.size.width,
                     c.size.height, c.number("threshold"));
}

void run_laplace(const Call &c) {
  reference::laplace(c.in[0].as<std::uint8_t>(), c.out[0].as<std::uint8_t>(), c.size.width,
                     c.size.height);
}

void run_sobel(const Call &c) {
  reference::sobel(c.in[0].as<std::uint8_t>(), c.out[0].as<std::uint8_t>(),
                   c.out[1].as<std::uint8_t>(), c.size.width, c.size.height);
}

const std::vector<Case> &cases() {
  static const PlaneShape luma{};
  static const PlaneShape rgb{"", Type::uchar_, 3};
  static const std::vector<Case> all = {
      {"epsilon", {{luma}, {luma}}, run_epsilon},
      {"laplace", {{rgb}, {rgb}}, run_laplace},
      {"sobel", {{luma}, {{"x"}, {"y"}}}, run_sobel},
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

Plane blank_plane(const PlaneShape &shape, const Size &size) {
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

std::vector<Plane> run_reference(const std::string &name, const Size &size,
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
