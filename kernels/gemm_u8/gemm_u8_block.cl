/*
 * gemm_u8.cl's product, 4x4 elements an item, for any device. Compile with the kernels folder on
 * the include path.
 */
static uint dot4_acc(uint a, uint b, uint sum) {
  const ushort4 products = convert_ushort4(as_uchar4(a)) * convert_ushort4(as_uchar4(b));
  return sum + products.x + products.y + products.z + products.w;
}
#include "common/dot_block.clh"

__kernel void gemm_u8_block(__global const uchar *restrict a, __global const uchar *restrict b,
                            __global uint *restrict c, uint width, uint height, uint depth) {
  gemm_dot_block(a, b, c, width, height, depth, 0u, 0u);
}
