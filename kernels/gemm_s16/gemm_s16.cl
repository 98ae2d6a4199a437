/*
 * Product of two matrices of shorts: C = A B, C[y][x] = sum over k of A[y][k] * B[k][x], modulo
 * 2^32.
 *
 * A holds height rows of depth shorts, C height rows of width ints. B is stored transposed, width
 * rows of depth shorts, so that in both matrices neighbouring k are neighbours in memory. No
 * padding; each is smaller than 2^32 bytes, and they do not overlap. Any width, height and depth
 * from 1 up. Items outside C do nothing. Compile with the kernels folder on the include path.
 *
 *   gemm_s16_scalar  1 element an item, short loads
 *   gemm_s16_block   4x4 elements an item
 *
 * gemm_s16_arm.cl has the second one through a dot product. Sums are uint here: one of ints that
 * does not fit has no meaning in C.
 */
static uint dot4_acc(uint a, uint b, uint sum) {
  const int2 products = convert_int2(as_short2(a)) * convert_int2(as_short2(b));
  return sum + as_uint(products.x) + as_uint(products.y);
}
#include "common/dot_block.clh"

__kernel void gemm_s16_scalar(__global const short *restrict a, __global const short *restrict b,
                              __global uint *restrict c, uint width, uint height, uint depth) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  uint sum = 0u;
  uint k;

  if (x >= width || y >= height) return;

  a += y * depth;
  b += x * depth;
  for (k = 0u; k < depth; ++k) sum += as_uint((int)a[k] * (int)b[k]);
  c[y * width + x] = sum;
}

__kernel void gemm_s16_block(__global const uchar *restrict a, __global const uchar *restrict b,
                             __global uint *restrict c, uint width, uint height, uint depth) {
  gemm_dot_block(a, b, c, width, height, 2u * depth, 0u, 0u);
}
