// SPDX-License-Identifier: Apache-2.0
// What the functions of the reference library share: whether the problem has the planes that a
// function takes, and access to its planes and parameters.
#ifndef KILN_KERNELS_COMMON_PROBLEM_HPP
#define KILN_KERNELS_COMMON_PROBLEM_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "kiln/reference.h"

namespace kiln::reference {

// What a plane must be.
struct Shape {
  std::uint32_t type;
  std::uint32_t channels;
  std::uint64_t width;
  std::uint64_t height;
};

inline Shape bytes(std::uint32_t channels, std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_UCHAR, channels, width, height};
}

inline Shape ushorts(std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_USHORT, 1, width, height};
}

inline Shape ints(std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_INT, 1, width, height};
}

inline Shape uints(std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_UINT, 1, width, height};
}

inline Shape halves(std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_HALF, 1, width, height};
}

inline Shape floats(std::uint32_t channels, std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_FLOAT, channels, width, height};
}

inline bool fits(const kiln_reference_plane *planes, std::uint32_t count,
                 std::initializer_list<Shape> shapes) {
  if (count != shapes.size()) return false;
  for (const Shape &shape : shapes) {
    if (planes->type != shape.type || planes->channels != shape.channels ||
        planes->width != shape.width || planes->height != shape.height) {
      return false;
    }
    ++planes;
  }
  return true;
}

// Whether the problem has those inputs and outputs; else the call's message says so.
inline bool takes(const kiln_reference_call *call, std::initializer_list<Shape> inputs,
                  std::initializer_list<Shape> outputs) {
  const bool in = fits(call->inputs, call->input_count, inputs);
  if (in && fits(call->outputs, call->output_count, outputs)) return true;
  std::snprintf(call->message, call->message_size, "the %s are not those of this case study",
                in ? "outputs" : "inputs");
  return false;
}

template <typename T = std::uint8_t>
const T *in(const kiln_reference_call *call, std::size_t i) {
  return static_cast<const T *>(call->inputs[i].data);
}

template <typename T = std::uint8_t>
T *out(const kiln_reference_call *call, std::size_t i) {
  return static_cast<T *>(call->outputs[i].data);
}

// The parameter's components. A parameter that was not given is all zeros.
inline std::vector<float> numbers(const kiln_reference_call *call, const char *name,
                                  std::size_t count) {
  std::vector<float> values(count);
  for (std::uint32_t p = 0; p < call->parameter_count; ++p) {
    const kiln_reference_parameter &parameter = call->parameters[p];
    if (std::strcmp(parameter.name, name) != 0) continue;
    for (std::size_t i = 0; i < count && i < parameter.components; ++i) {
      values[i] = static_cast<float>(parameter.values[i]);
    }
  }
  return values;
}

// The parameter, which is an int; 0 if it was not given.
inline std::int32_t integer(const kiln_reference_call *call, const char *name) {
  for (std::uint32_t p = 0; p < call->parameter_count; ++p) {
    const kiln_reference_parameter &parameter = call->parameters[p];
    if (std::strcmp(parameter.name, name) == 0) {
      return static_cast<std::int32_t>(parameter.values[0]);
    }
  }
  return 0;
}

// The coordinate `position` + `offset`, moved to the nearest one in [0, extent).
inline std::size_t clamped(std::size_t position, std::ptrdiff_t offset, std::size_t extent) {
  const auto last = static_cast<std::ptrdiff_t>(extent) - 1;
  const auto moved = static_cast<std::ptrdiff_t>(position) + offset;
  return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(moved, 0, last));
}

}  // namespace kiln::reference

#endif  // KILN_KERNELS_COMMON_PROBLEM_HPP
