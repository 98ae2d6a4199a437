/*
 * gemm_u8.cl's product, 4x4 elements an item, through cl_qcom_dot_product8. Compile with the
 * kernels folder on the include path.
 *
 * The built-in adds to an int and saturates, so the sums start from the least int: they reach the
 * largest one only where C's 32 bits are full too.
 */
#ifdef cl_qcom_dot_product8
#pragma OPENCL EXTENSION cl_qcom_dot_product8 : enable
#endif

static uint dot4_acc(uint a, uint b, uint sum) {
  return as_uint(qcom_udot8_acc(a, b, as_int(sum)));
}
#include "common/dot_block.clh"

__kernel void gemm_u8_qcom_dot8(__global const uchar *restrict a, __global const uchar *restrict b,
                                __global uint *restrict c, uint width, uint height, uint depth) {
  gemm_dot_block(a, b, c, width, height, depth, 0x80000000u, 0x80000000u);
}
