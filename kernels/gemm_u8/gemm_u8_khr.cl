/*
 * gemm_u8.cl's product, 4x4 elements an item, through cl_khr_integer_dot_product. Compile with the
 * kernels folder on the include path.
 */
static uint dot4_acc(uint a, uint b, uint sum) { return sum + dot_4x8packed_uu_uint(a, b); }
#include "common/dot_block.clh"

__kernel void gemm_u8_khr_dot(__global const uchar *restrict a, __global const uchar *restrict b,
                              __global uint *restrict c, uint width, uint height, uint depth) {
  gemm_dot_block(a, b, c, width, height, depth, 0u, 0u);
}
