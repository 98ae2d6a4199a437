/*
 * bitreverse.cl's bits, 4 elements an item, through cl_khr_extended_bit_ops. Compile with the
 * kernels folder on the include path.
 */
static uint4 reverse4(uint4 v) { return bit_reverse(v); }
#include "bitreverse/bitreverse_four.clh"

__kernel void bitreverse_khr(__global const uint4 *restrict source,
                             __global uint4 *restrict destination, uint n) {
  bitreverse_four(source, destination, n);
}
