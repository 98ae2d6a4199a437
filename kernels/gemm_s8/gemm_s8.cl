/*
 * Product of two matrices of bytes into int, with saturation. A's bytes are signed; B's are signed,
 * or unsigned with -DGEMM_S8_B_UNSIGNED.
 *
 *   sum = bias
 *   for k = 0, 4, 8, ...
 *     sum = clamp(sum + A[y][k] B[k][x] + ... + A[y][k + 3] B[k + 3][x], INT_MIN, INT_MAX)
 *   C[y][x] = sum
 *
 * where products behind the depth are 0. So a sum of four products is exact, and each addition of
 * one to C saturates: what the vendors' saturating dot products do.
 *
 * A holds height rows of depth bytes, C height rows of width ints. B is stored transposed, width
 * rows of depth bytes, so that in both matrices neighbouring k are neighbours in memory. No
 * padding; each is smaller than 2^32 bytes, and they do not overlap. Any width, height and depth
 * from 1 up. Items outside C do nothing. Compile with the kernels folder on the include path.
 *
 *   gemm_s8_scalar  1 element an item, byte loads
 *   gemm_s8_block   4x4 elements an item
 *
 * gemm_s8_khr.cl, gemm_s8_arm.cl and gemm_s8_qcom.cl have the second one through dot products.
 */
#ifdef GEMM_S8_B_UNSIGNED
#define B_BYTE uchar
#define AS_B as_uchar4
#else
#define B_BYTE char
#define AS_B as_char4
#endif

static uint dot4_acc(uint a, uint b, uint sum) {
  const int4 products = convert_int4(as_char4(a)) * convert_int4(AS_B(b));
  return as_uint(add_sat(as_int(sum), (products.x + products.y) + (products.z + products.w)));
}
#include "common/dot_block.clh"

__kernel void gemm_s8_scalar(__global const char *restrict a, __global const B_BYTE *restrict b,
                             __global int *restrict c, uint width, uint height, uint depth,
                             int bias) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  int sum = bias;
  uint k;
  uint i;

  if (x >= width || y >= height) return;

  a += y * depth;
  b += x * depth;
  for (k = 0u; k < depth; k += 4u) {
    int part = 0;
    for (i = k; i < min(k + 4u, depth); ++i) part += (int)a[i] * (int)b[i];
    sum = add_sat(sum, part);
  }
  c[y * width + x] = sum;
}

__kernel void gemm_s8_block(__global const uchar *restrict a, __global const uchar *restrict b,
                            __global uint *restrict c, uint width, uint height, uint depth,
                            int bias) {
  gemm_dot_block(a, b, c, width, height, depth, as_uint(bias), 0u);
}
