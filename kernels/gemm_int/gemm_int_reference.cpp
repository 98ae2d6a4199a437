// SPDX-License-Identifier: Apache-2.0
// C = A B of integers, as gemm_int.cl defines it. The manifest has no signed types of 8 and 16
// bits: the planes hold their bits. B is stored transposed: row x is column x of B.
#include "kernels/common/problem.hpp"

namespace kiln::reference {
namespace {

// Modulo 2^32.
template <typename T>
std::int32_t multiply(const kiln_reference_call *call, const Shape &a, const Shape &b,
                      const Shape &c) {
  const std::size_t depth = call->depth;
  if (!takes(call, {a, b}, {c})) return 1;
  const T *left = in<T>(call, 0), *right = in<T>(call, 1);
  auto *sums = out<std::uint32_t>(call, 0);
  for (std::size_t y = 0; y < call->height; ++y) {
    for (std::size_t x = 0; x < call->width; ++x) {
      std::uint32_t sum = 0;
      for (std::size_t k = 0; k < depth; ++k) {
        sum += static_cast<std::uint32_t>(std::int32_t{left[y * depth + k]} *
                                          std::int32_t{right[x * depth + k]});
      }
      *sums++ = sum;
    }
  }
  return 0;
}

// With a bias. In order of k, the sum of four products, exact, is added at a time, and each
// addition saturates to 32 bits.
template <typename B>
std::int32_t multiply_saturating(const kiln_reference_call *call) {
  const std::size_t w = call->width, h = call->height, d = call->depth;
  if (!takes(call, {bytes(1, d, h), bytes(1, d, w)}, {ints(w, h)})) return 1;
  const std::int32_t bias = integer(call, "bias");
  auto *sums = out<std::int32_t>(call, 0);
  for (std::size_t y = 0; y < h; ++y) {
    for (std::size_t x = 0; x < w; ++x) {
      const auto *a = in<std::int8_t>(call, 0) + y * d;
      const auto *b = in<B>(call, 1) + x * d;
      std::int64_t sum = bias;
      for (std::size_t first = 0; first < d; first += 4) {
        for (std::size_t k = first; k < std::min(first + 4, d); ++k)
          sum += std::int64_t{a[k]} * std::int64_t{b[k]};
        sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      }
      *sums++ = static_cast<std::int32_t>(sum);
    }
  }
  return 0;
}

}  // namespace

KILN_REFERENCE_EXPORT std::int32_t gemm_u8(const kiln_reference_call *call) {
  const std::size_t w = call->width, h = call->height, d = call->depth;
  return multiply<std::uint8_t>(call, bytes(1, d, h), bytes(1, d, w), uints(w, h));
}

KILN_REFERENCE_EXPORT std::int32_t gemm_s16(const kiln_reference_call *call) {
  const std::size_t w = call->width, h = call->height, d = call->depth;
  return multiply<std::int16_t>(call, ushorts(d, h), ushorts(d, w), ints(w, h));
}

KILN_REFERENCE_EXPORT std::int32_t gemm_s8(const kiln_reference_call *call) {
  return multiply_saturating<std::int8_t>(call);
}

KILN_REFERENCE_EXPORT std::int32_t gemm_su8(const kiln_reference_call *call) {
  return multiply_saturating<std::uint8_t>(call);
}

}  // namespace kiln::reference
