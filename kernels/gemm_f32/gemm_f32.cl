/*
 * Product of two matrices of floats: C = A B, C[y][x] = sum over k of A[y][k] * B[k][x]; with HALF
 * the elements of A and B are halves.
 *
 * A holds height rows of depth elements, B depth rows of width elements, C height rows of width
 * floats. No padding; each is smaller than 2^32 bytes, and they do not overlap. Any width, height
 * and depth from 1 up. Items outside C do nothing. The order in which products are added is each
 * variant's own.
 *
 *   gemm_scalar  1 element an item; products and sums in float
 *   gemm_block   4x8 elements an item, 8-wide loads, no local memory. With HALF, which needs
 *                cl_khr_fp16 here, products are in half precision, and so are the sums of AT_ONCE
 *                products, which must not reach 65520; those are added in float
 *
 * gemm_f32_tiled.cl has the variants for GPUs.
 */
#ifdef HALF
#define ELEMENT half
#define VECTOR half8
#define LOAD(k, m) vload_half(k, m)
#define AT_ONCE 8u
#else
#define ELEMENT float
#define VECTOR float8
#define LOAD(k, m) (m)[k]
#define AT_ONCE depth
#endif

__kernel void gemm_scalar(__global const ELEMENT *restrict a, __global const ELEMENT *restrict b,
                          __global float *restrict c, uint width, uint height, uint depth) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  float sum = 0.0f;
  uint k;

  if (x >= width || y >= height) return;

  a += y * depth;
  b += x;
  for (k = 0u; k < depth; ++k) sum += LOAD(k, a) * LOAD(k * width, b);
  c[y * width + x] = sum;
}

#if !defined(HALF) || defined(cl_khr_fp16)
#ifdef HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

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

/* Eight elements of a row of B from `x` on, the last one again beyond the row. */
static VECTOR load_row(__global const ELEMENT *row, uint x, uint width) {
  const uint8 at = min(x + (uint8)(0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u), (uint8)(width - 1u));

  if (x + 8u <= width) return vload8(0, row + x);
  return (VECTOR)(row[at.s0], row[at.s1], row[at.s2], row[at.s3], row[at.s4], row[at.s5],
                  row[at.s6], row[at.s7]);
}

__kernel void gemm_block(__global const ELEMENT *restrict a, __global const ELEMENT *restrict b,
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
    VECTOR part[4] = {(VECTOR)(0), (VECTOR)(0), (VECTOR)(0), (VECTOR)(0)};

    for (; k < end; ++k) {
      const VECTOR row = load_row(b + k * width, x, width);
      part[0] += a[rows.x + k] * row;
      part[1] += a[rows.y + k] * row;
      part[2] += a[rows.z + k] * row;
      part[3] += a[rows.w + k] * row;
    }
    sums[0] += convert_float8(part[0]);
    sums[1] += convert_float8(part[1]);
    sums[2] += convert_float8(part[2]);
    sums[3] += convert_float8(part[3]);
  }

  c += y * width + x;
  store_row(sums[0], width - x, c);
  if (y + 1u < height) store_row(sums[1], width - x, c + width);
  if (y + 2u < height) store_row(sums[2], width - x, c + 2u * width);
  if (y + 3u < height) store_row(sums[3], width - x, c + 3u * width);
}
#endif
