/*
 * gemm_f16.cl's product, 4x8 elements of C an item, with products in half precision. So are the
 * sums of AT_ONCE products, which must not reach 65520; those are added in float. Compile with the
 * kernels folder on the include path.
 */
#include "common/half8.clh"

#define AT_ONCE 8u

/* Eight elements of a row of B from `x` on, the last one again beyond the row. */
static uint4 load_row(__global const ushort *row, uint x, uint width) {
  const uint8 at = min(x + (uint8)(0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u), (uint8)(width - 1u));

  if (x + 8u <= width) return as_uint4(vload8(0, row + x));
  return as_uint4((ushort8)(row[at.s0], row[at.s1], row[at.s2], row[at.s3], row[at.s4], row[at.s5],
                            row[at.s6], row[at.s7]));
}

/* The element in all lanes. */
static uint4 spread(ushort element) { return (uint4)((uint)element * 0x10001u); }

/* `count` (at least 1) elements of a row of C, eight at most. */
static void store_row(float8 sum, uint count, __global float *c) {
  if (count >= 8u) {
    vstore8(sum, 0, c);
    return;
  }
  c[0] = sum.s0;
  if (count > 1u) c[1] = sum.s1;
  if (count > 2u) c[2] = sum.s2;
  if (count > 3u) c[3] = sum.s3;
  if (count > 4u) c[4] = sum.s4;
  if (count > 5u) c[5] = sum.s5;
  if (count > 6u) c[6] = sum.s6;
}

__kernel void gemm_f16_half(__global const ushort *restrict a, __global const ushort *restrict b,
                            __global float *restrict c, uint width, uint height, uint depth) {
  const uint x = 8u * (uint)get_global_id(0);
  const uint y = 4u * (uint)get_global_id(1);
  float8 sums[4] = {(float8)(0.0f), (float8)(0.0f), (float8)(0.0f), (float8)(0.0f)};
  uint4 rows;
  uint k = 0u;

  if (x >= width || y >= height) return;

  /* Rows beyond the last read the last one again, and are not stored. */
  rows = min(y + (uint4)(0u, 1u, 2u, 3u), (uint4)(height - 1u)) * depth;
  while (k < depth) {
    const uint end = min(k + AT_ONCE, depth);
    uint4 part[4] = {(uint4)(0u), (uint4)(0u), (uint4)(0u), (uint4)(0u)};

    for (; k < end; ++k) {
      const uint4 row = load_row(b + k * width, x, width);
      part[0] = half8_mad(spread(a[rows.x + k]), row, part[0]);
      part[1] = half8_mad(spread(a[rows.y + k]), row, part[1]);
      part[2] = half8_mad(spread(a[rows.z + k]), row, part[2]);
      part[3] = half8_mad(spread(a[rows.w + k]), row, part[3]);
    }
    sums[0] += half8_to_float(part[0]);
    sums[1] += half8_to_float(part[1]);
    sums[2] += half8_to_float(part[2]);
    sums[3] += half8_to_float(part[3]);
  }

  c += y * width + x;
  store_row(sums[0], width - x, c);
  if (y + 1u < height) store_row(sums[1], width - x, c + width);
  if (y + 2u < height) store_row(sums[2], width - x, c + 2u * width);
  if (y + 3u < height) store_row(sums[3], width - x, c + 3u * width);
}
