/*
 * bitreverse.cl's bits, 4 elements an item, through cl_qcom_bitreverse, which takes one uint at a
 * time. Compile with the kernels folder on the include path.
 */
#ifdef cl_qcom_bitreverse
#pragma OPENCL EXTENSION cl_qcom_bitreverse : enable
#endif

static uint4 reverse4(uint4 v) {
  uint qcom_bitreverse(uint v); /* Qualcomm's sample has it declared here. */
  return (uint4)(qcom_bitreverse(v.x), qcom_bitreverse(v.y), qcom_bitreverse(v.z),
                 qcom_bitreverse(v.w));
}
#include "bitreverse/bitreverse_four.clh"

__kernel void bitreverse_qcom(__global const uint4 *restrict source,
                              __global uint4 *restrict destination, uint n) {
  bitreverse_four(source, destination, n);
}
