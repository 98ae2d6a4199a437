/*
 * Fill with a ramp: byte i becomes i mod 256.
 *
 * out holds n bytes. Any n from 1 up. The items of the NDRange are numbered, whatever its shape;
 * those beyond the buffer do nothing.
 *
 *   fill_scalar          1 byte an item
 *   fill_vec16           16 bytes an item
 *   fill_vec16_strided4  4 vectors of 16 bytes an item, as far apart as there are items, so that
 *                        neighbouring items store neighbouring vectors
 */
__kernel void fill_scalar(__global uchar *restrict out, uint n) {
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  if (i < n) out[i] = (uchar)i;
}

/* The i-th sixteen of n bytes, or what there is of them. */
static void fill_sixteen(__global uint4 *out, uint i, uint n) {
  if (i < n / 16u) {
    const uint4 first = as_uint4((uchar16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    /* A vector starts at a multiple of 16, so no byte of a sum carries into the next. */
    out[i] = first + 0x01010101u * (16u * (i % 16u));
  } else if (i == n / 16u) {
    __global uchar *last = (__global uchar *)out;
    uint k;
    for (k = 16u * i; k < n; ++k) last[k] = (uchar)k;
  }
}

__kernel void fill_vec16(__global uint4 *restrict out, uint n) {
  const uint item = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  fill_sixteen(out, item, n);
}

__kernel void fill_vec16_strided4(__global uint4 *restrict out, uint n) {
  const uint items = (uint)get_global_size(0) * (uint)get_global_size(1);
  const uint item = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  fill_sixteen(out, item, n);
  fill_sixteen(out, item + items, n);
  fill_sixteen(out, item + 2u * items, n);
  fill_sixteen(out, item + 3u * items, n);
}
