/*
 * gemm_s8.cl's product, 4x4 elements an item, through cl_qcom_dot_product8. Compile with the
 * kernels folder on the include path.
 *
 * Signed by unsigned is one qcom_dot8_acc, whose first operand is the signed one and which
 * saturates. Signed by signed has none: with b' = b + 128, which is unsigned, a . b = a . b' - 128
 * sum(a). A block's four columns share sum(a).
 */
#ifdef cl_qcom_dot_product8
#pragma OPENCL EXTENSION cl_qcom_dot_product8 : enable
#endif

static uint dot4_acc(uint a, uint b, uint sum) {
#ifdef GEMM_S8_B_UNSIGNED
  return as_uint(qcom_dot8_acc(a, b, as_int(sum)));
#else
  const int sum_of_a = qcom_dot8_acc(a, 0x01010101u, 0);
  const int part = qcom_dot8_acc(a, b ^ 0x80808080u, -128 * sum_of_a);
  return as_uint(add_sat(as_int(sum), part));
#endif
}
#include "common/dot_block.clh"

__kernel void gemm_s8_qcom_dot8(__global const uchar *restrict a, __global const uchar *restrict b,
                                __global uint *restrict c, uint width, uint height, uint depth,
                                int bias) {
  gemm_dot_block(a, b, c, width, height, depth, as_uint(bias), 0u);
}
