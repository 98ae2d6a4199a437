/*
 * Each of n uints with its 32 bits in the opposite order.
 *
 * source and destination hold n elements, are smaller than 2^32 bytes and do not overlap. Any n
 * from 1 up. The items of the NDRange are numbered, whatever its shape; those beyond n do nothing.
 *
 *   bitreverse_table  1 element an item, four bytes by a table
 *   bitreverse_four   4 elements an item, by exchanges of ever larger groups of bits, or by a
 * built-in: with BITREVERSE_KHR of cl_khr_extended_bit_ops, with BITREVERSE_QCOM of
 *                     cl_qcom_bitreverse, which takes one uint at a time
 */
#if defined(BITREVERSE_KHR)
static uint4 reverse4(uint4 v) { return bit_reverse(v); }
#elif defined(BITREVERSE_QCOM)
#ifdef cl_qcom_bitreverse
#pragma OPENCL EXTENSION cl_qcom_bitreverse : enable
#endif

static uint4 reverse4(uint4 v) {
  uint qcom_bitreverse(uint v); /* Qualcomm's sample has it declared here. */
  return (uint4)(qcom_bitreverse(v.x), qcom_bitreverse(v.y), qcom_bitreverse(v.z),
                 qcom_bitreverse(v.w));
}
#else
/* Bytes are not exchanged by shifts: compilers see what that is for, and Oclgrind 21.10 does not
 * know the intrinsic that they make of it. */
static uint4 reverse4(uint4 v) {
  uchar16 bytes;

  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
  bytes = as_uchar16(v);
  return as_uint4((uchar16)(bytes.s32107654, bytes.sba98fedc));
}
#endif

/* Reversed bytes: each line begins with another order of the upper four bits. */
#define LINE(high)                                                                               \
  0x00 + high, 0x80 + high, 0x40 + high, 0xc0 + high, 0x20 + high, 0xa0 + high, 0x60 + high,     \
      0xe0 + high, 0x10 + high, 0x90 + high, 0x50 + high, 0xd0 + high, 0x30 + high, 0xb0 + high, \
      0x70 + high, 0xf0 + high

__constant uchar reversed_bytes[256] = {
    LINE(0x0), LINE(0x8), LINE(0x4), LINE(0xc), LINE(0x2), LINE(0xa), LINE(0x6), LINE(0xe),
    LINE(0x1), LINE(0x9), LINE(0x5), LINE(0xd), LINE(0x3), LINE(0xb), LINE(0x7), LINE(0xf)};

__kernel void bitreverse_table(__global const uint *restrict source,
                               __global uint *restrict destination, uint n) {
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  if (i < n) {
    const uint v = source[i];
    destination[i] = (uint)reversed_bytes[v & 255u] << 24 |
                     (uint)reversed_bytes[(v >> 8) & 255u] << 16 |
                     (uint)reversed_bytes[(v >> 16) & 255u] << 8 | (uint)reversed_bytes[v >> 24];
  }
}

__kernel void bitreverse_four(__global const uint4 *restrict source,
                              __global uint4 *restrict destination, uint n) {
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  if (i < n / 4u) {
    destination[i] = reverse4(source[i]);
  } else if (i == n / 4u) { /* the last n mod 4 */
    __global const uint *from = (__global const uint *)source;
    __global uint *to = (__global uint *)destination;
    uint k;
    for (k = 4u * i; k < n; ++k) to[k] = reverse4((uint4)(from[k])).x;
  }
}
