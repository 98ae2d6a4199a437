/*
 * Fill with a ramp: byte i becomes i mod 256.
 *
 * out holds n bytes. Any n from 1 up. The items of the NDRange are numbered, whatever its shape;
 * those beyond the buffer do nothing.
 *
 *   fill_scalar  1 byte an item
 *   fill_vec16   16 bytes an item
 */
__kernel void fill_scalar(__global uchar *restrict out, uint n) {
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  if (i < n) out[i] = (uchar)i;
}

__kernel void fill_vec16(__global uint4 *restrict out, uint n) {
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);
  uint k;

  if (i < n / 16u) {
    const uint4 first = as_uint4((uchar16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    /* A vector starts at a multiple of 16, so no byte of a sum carries into the next. */
    out[i] = first + 0x01010101u * (16u * (i % 16u));
  } else if (i == n / 16u) { /* the last n mod 16 */
    for (k = 16u * i; k < n; ++k) ((__global uchar *)out)[k] = (uchar)k;
  }
}
