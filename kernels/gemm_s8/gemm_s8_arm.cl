/*
 * gemm_s8.cl's product, 4x4 elements an item, through Arm's dot products. Compile with the kernels
 * folder on the include path.
 *
 * Signed by signed is one arm_dot_acc_sat (cl_arm_integer_dot_product_accumulate_saturate_int8).
 * Signed by unsigned has none: with b' = b - 128, which is signed, a . b = a . b' + 128 sum(a), by
 * arm_dot_acc (cl_arm_integer_dot_product_accumulate_int8). A block's four columns share sum(a).
 */
#ifdef GEMM_S8_B_UNSIGNED
#ifdef cl_arm_integer_dot_product_accumulate_int8
#pragma OPENCL EXTENSION cl_arm_integer_dot_product_accumulate_int8 : enable
#endif

static uint dot4_acc(uint a, uint b, uint sum) {
  const int sum_of_a_64 = arm_dot_acc(as_char4(a), (char4)(64), 0);
  const int part = arm_dot_acc(as_char4(a), as_char4(b ^ 0x80808080u), 2 * sum_of_a_64);
  return as_uint(add_sat(as_int(sum), part));
}
#else
#ifdef cl_arm_integer_dot_product_accumulate_saturate_int8
#pragma OPENCL EXTENSION cl_arm_integer_dot_product_accumulate_saturate_int8 : enable
#endif

static uint dot4_acc(uint a, uint b, uint sum) {
  return as_uint(arm_dot_acc_sat(as_char4(a), as_char4(b), as_int(sum)));
}
#endif
#include "common/dot_block.clh"

__kernel void gemm_s8_arm_dot(__global const uchar *restrict a, __global const uchar *restrict b,
                              __global uint *restrict c, uint width, uint height, uint depth,
                              int bias) {
  gemm_dot_block(a, b, c, width, height, depth, as_uint(bias), 0u);
}
