/*
 * gemm_s16.cl's product, 4x4 elements an item, through cl_arm_integer_dot_product_accumulate_int16:
 * two products at a time. Compile with the kernels folder on the include path.
 */
#ifdef cl_arm_integer_dot_product_accumulate_int16
#pragma OPENCL EXTENSION cl_arm_integer_dot_product_accumulate_int16 : enable
#endif

static uint dot4_acc(uint a, uint b, uint sum) {
  return as_uint(arm_dot_acc(as_short2(a), as_short2(b), as_int(sum)));
}
#include "common/dot_block.clh"

__kernel void gemm_s16_arm_dot(__global const uchar *restrict a, __global const uchar *restrict b,
                               __global uint *restrict c, uint width, uint height, uint depth) {
  gemm_dot_block(a, b, c, width, height, 2u * depth, 0u, 0u);
}
