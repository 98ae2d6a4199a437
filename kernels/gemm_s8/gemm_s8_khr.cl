/*
 * gemm_s8.cl's product, 4x4 elements an item, through cl_khr_integer_dot_product, whose signed and
 * mixed products saturate as the definition does. Compile with the kernels folder on the include
 * path.
 */
static uint dot4_acc(uint a, uint b, uint sum) {
#ifdef GEMM_S8_B_UNSIGNED
  return as_uint(dot_acc_sat_4x8packed_su_int(a, b, as_int(sum)));
#else
  return as_uint(dot_acc_sat_4x8packed_ss_int(a, b, as_int(sum)));
#endif
}
#include "common/dot_block.clh"

__kernel void gemm_s8_khr_dot(__global const uchar *restrict a, __global const uchar *restrict b,
                              __global uint *restrict c, uint width, uint height, uint depth,
                              int bias) {
  gemm_dot_block(a, b, c, width, height, depth, as_uint(bias), 0u);
}
