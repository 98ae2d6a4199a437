/*
 * gemm_u8.cl's product, 4x4 elements an item, through cl_arm_integer_dot_product_accumulate_int8.
 * Compile with the kernels folder on the include path.
 */
#ifdef cl_arm_integer_dot_product_accumulate_int8
#pragma OPENCL EXTENSION cl_arm_integer_dot_product_accumulate_int8 : enable
#endif

static uint dot4_acc(uint a, uint b, uint sum) {
  return arm_dot_acc(as_uchar4(a), as_uchar4(b), sum);
}
#include "common/dot_block.clh"

__kernel void gemm_u8_arm_dot(__global const uchar *restrict a, __global const uchar *restrict b,
                              __global uint *restrict c, uint width, uint height, uint depth) {
  gemm_dot_block(a, b, c, width, height, depth, 0u, 0u);
}
