// SPDX-License-Identifier: Apache-2.0
// The reference library of the case studies: each function checks that the problem is one that it
// takes, and calls the reference of that name.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "kernels/bezier/bezier_reference.hpp"
#include "kernels/bicubic/bicubic_reference.hpp"
#include "kernels/bitreverse/bitreverse_reference.hpp"
#include "kernels/block_match/block_match_reference.hpp"
#include "kernels/box/box_reference.hpp"
#include "kernels/convolution/convolution_reference.hpp"
#include "kernels/dot/dot_reference.hpp"
#include "kernels/epsilon/epsilon_reference.hpp"
#include "kernels/fill/fill_reference.hpp"
#include "kernels/gemm_f16/gemm_f16_reference.hpp"
#include "kernels/gemm_f32/gemm_f32_reference.hpp"
#include "kernels/gemm_s16/gemm_s16_reference.hpp"
#include "kernels/gemm_s8/gemm_s8_reference.hpp"
#include "kernels/gemm_u8/gemm_u8_reference.hpp"
#include "kernels/laplace/laplace_reference.hpp"
#include "kernels/matrix_add/matrix_add_reference.hpp"
#include "kernels/reduce/reduce_reference.hpp"
#include "kernels/sobel/sobel_reference.hpp"
#include "kernels/vector_add/vector_add_reference.hpp"
#include "kiln/reference.h"

namespace {

// What a plane must be.
struct Shape {
  std::uint32_t type;
  std::uint32_t channels;
  std::uint64_t width;
  std::uint64_t height;
};

Shape bytes(std::uint32_t channels, std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_UCHAR, channels, width, height};
}

Shape ushorts(std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_USHORT, 1, width, height};
}

Shape ints(std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_INT, 1, width, height};
}

Shape uints(std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_UINT, 1, width, height};
}

Shape halves(std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_HALF, 1, width, height};
}

Shape floats(std::uint32_t channels, std::uint64_t width, std::uint64_t height) {
  return {KILN_REFERENCE_FLOAT, channels, width, height};
}

bool fits(const kiln_reference_plane *planes, std::uint32_t count,
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
bool takes(const kiln_reference_call *call, std::initializer_list<Shape> inputs,
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
std::vector<float> numbers(const kiln_reference_call *call, const char *name, std::size_t count) {
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
std::int32_t integer(const kiln_reference_call *call, const char *name) {
  for (std::uint32_t p = 0; p < call->parameter_count; ++p) {
    const kiln_reference_parameter &parameter = call->parameters[p];
    if (std::strcmp(parameter.name, name) == 0) {
      return static_cast<std::int32_t>(parameter.values[0]);
    }
  }
  return 0;
}

using BlockMatch = void(const std::uint8_t *target, const std::uint8_t *reference,
                        std::uint32_t *cost, std::uint8_t *vector, std::size_t width,
                        std::size_t height);

std::int32_t match_blocks(const kiln_reference_call *call, BlockMatch *match) {
  const std::uint64_t w = call->width, h = call->height;
  const std::uint64_t columns = (w + 7) / 8, rows = (h + 7) / 8;
  if (!takes(call, {bytes(1, w, h), bytes(1, w, h)},
             {uints(columns, rows), bytes(2, columns, rows)})) {
    return 1;
  }
  match(in(call, 0), in(call, 1), out<std::uint32_t>(call, 0), out(call, 1), w, h);
  return 0;
}

}  // namespace

namespace reference = kiln::reference;

KILN_REFERENCE_DEFINE_VERSION

KILN_REFERENCE_EXPORT std::int32_t bezier(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height;
  if (!takes(call, {}, {floats(4, w, h), floats(2, w, h)})) return 1;
  reference::bezier(numbers(call, "x", 16).data(), numbers(call, "y", 16).data(),
                    numbers(call, "z", 16).data(), out<float>(call, 0), out<float>(call, 1), w, h);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t bicubic(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height;
  if (!takes(call, {bytes(4, w, h)}, {bytes(4, 2 * w, 2 * h)})) return 1;
  reference::bicubic(in(call, 0), out(call, 0), w, h);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t bitreverse(const kiln_reference_call *call) {
  if (!takes(call, {uints(call->width, 1)}, {uints(call->width, 1)})) return 1;
  reference::bitreverse(in<std::uint32_t>(call, 0), out<std::uint32_t>(call, 0), call->width);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t block_match_sad(const kiln_reference_call *call) {
  return match_blocks(call, reference::block_match_sad);
}

KILN_REFERENCE_EXPORT std::int32_t block_match_ssd(const kiln_reference_call *call) {
  return match_blocks(call, reference::block_match_ssd);
}

KILN_REFERENCE_EXPORT std::int32_t box(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height;
  if (!takes(call, {bytes(4, w, h)}, {bytes(4, w, h)})) return 1;
  reference::box(in(call, 0), out(call, 0), w, h);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t convolution(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height;
  const Shape weights = floats(1, reference::kConvolutionTaps, 2);
  if (!takes(call, {floats(1, w, h), weights}, {floats(1, w, h)})) return 1;
  reference::convolution(in<float>(call, 0), in<float>(call, 1), out<float>(call, 0), w, h);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t dot(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height;
  if (!takes(call, {floats(4, w, h), floats(4, w, h)}, {floats(1, w, h)})) return 1;
  reference::dot(in<float>(call, 0), in<float>(call, 1), out<float>(call, 0), w * h);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t epsilon(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height;
  if (!takes(call, {bytes(1, w, h)}, {bytes(1, w, h)})) return 1;
  const auto threshold = static_cast<unsigned>(numbers(call, "threshold", 1)[0]);
  reference::epsilon(in(call, 0), out(call, 0), w, h, threshold);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t fill(const kiln_reference_call *call) {
  if (!takes(call, {}, {bytes(1, call->width, 1)})) return 1;
  reference::fill(out(call, 0), call->width);
  return 0;
}

// The manifest has no signed types of 8 and 16 bits: the planes hold their bits.
KILN_REFERENCE_EXPORT std::int32_t gemm_s16(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height, d = call->depth;
  if (!takes(call, {ushorts(d, h), ushorts(d, w)}, {ints(w, h)})) return 1;
  reference::gemm_s16(in<std::int16_t>(call, 0), in<std::int16_t>(call, 1),
                      out<std::int32_t>(call, 0), w, h, d);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t gemm_s8(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height, d = call->depth;
  if (!takes(call, {bytes(1, d, h), bytes(1, d, w)}, {ints(w, h)})) return 1;
  reference::gemm_s8(in<std::int8_t>(call, 0), in<std::int8_t>(call, 1), out<std::int32_t>(call, 0),
                     w, h, d, integer(call, "bias"));
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t gemm_su8(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height, d = call->depth;
  if (!takes(call, {bytes(1, d, h), bytes(1, d, w)}, {ints(w, h)})) return 1;
  reference::gemm_su8(in<std::int8_t>(call, 0), in(call, 1), out<std::int32_t>(call, 0), w, h, d,
                      integer(call, "bias"));
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t gemm_f16(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height, d = call->depth;
  if (!takes(call, {halves(d, h), halves(w, d)}, {floats(1, w, h)})) return 1;
  reference::gemm_f16(in<std::uint16_t>(call, 0), in<std::uint16_t>(call, 1), out<float>(call, 0),
                      w, h, d);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t gemm_f32(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height, d = call->depth;
  if (!takes(call, {floats(1, d, h), floats(1, w, d)}, {floats(1, w, h)})) return 1;
  reference::gemm_f32(in<float>(call, 0), in<float>(call, 1), out<float>(call, 0), w, h, d);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t gemm_u8(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height, d = call->depth;
  if (!takes(call, {bytes(1, d, h), bytes(1, d, w)}, {uints(w, h)})) return 1;
  reference::gemm_u8(in(call, 0), in(call, 1), out<std::uint32_t>(call, 0), w, h, d);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t laplace(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height;
  if (!takes(call, {bytes(3, w, h)}, {bytes(3, w, h)})) return 1;
  reference::laplace(in(call, 0), out(call, 0), w, h);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t matrix_add(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height;
  if (!takes(call, {floats(1, w, h), floats(1, w, h)}, {floats(1, w, h)})) return 1;
  reference::matrix_add(in<float>(call, 0), in<float>(call, 1), out<float>(call, 0), w, h);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t reduce(const kiln_reference_call *call) {
  if (!takes(call, {uints(call->width, 1)}, {uints(1, 1)})) return 1;
  reference::reduce(in<std::uint32_t>(call, 0), out<std::uint32_t>(call, 0), call->width);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t sobel(const kiln_reference_call *call) {
  const std::uint64_t w = call->width, h = call->height;
  if (!takes(call, {bytes(1, w, h)}, {bytes(1, w, h), bytes(1, w, h)})) return 1;
  reference::sobel(in(call, 0), out(call, 0), out(call, 1), w, h);
  return 0;
}

KILN_REFERENCE_EXPORT std::int32_t vector_add(const kiln_reference_call *call) {
  const Shape row{KILN_REFERENCE_INT, 1, call->width, 1};
  if (!takes(call, {row, row}, {row})) return 1;
  reference::vector_add(in<std::int32_t>(call, 0), in<std::int32_t>(call, 1),
                        out<std::int32_t>(call, 0), call->width);
  return 0;
}
