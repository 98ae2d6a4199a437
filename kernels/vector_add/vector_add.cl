/*
 * Sum of two vectors of int, modulo 2^32: out = a + b.
 *
 * Each holds n elements and is smaller than 2^32 bytes; they do not overlap. Any n from 1 up. The
 * items of the NDRange are numbered, whatever its shape; those beyond the vector do nothing.
 *
 *   vector_add_scalar         1 element an item
 *   vector_add_vec4           4 elements an item
 *   vector_add_vec4_strided4  4 vectors of 4 elements an item, as far apart as there are items, so
 *                             that neighbouring items touch neighbouring memory at every access
 *   vector_add_persistent     any number of items, which go through the vectors in steps of that
 *                             number, four vectors of 4 elements under way at a time
 *
 * The elements are uint here: a sum of ints that does not fit has no meaning in C.
 */
__kernel void vector_add_scalar(__global const uint *restrict a, __global const uint *restrict b,
                                __global uint *restrict out, uint n) {
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  if (i < n) out[i] = a[i] + b[i];
}

/* The i-th four of n elements, or what there is of them. */
static void add_four(__global const uint4 *a, __global const uint4 *b, __global uint4 *out, uint i,
                     uint n) {
  if (i < n / 4u) {
    out[i] = a[i] + b[i];
  } else if (i == n / 4u) {
    __global const uint *a_last = (__global const uint *)a;
    __global const uint *b_last = (__global const uint *)b;
    __global uint *out_last = (__global uint *)out;
    uint k;
    for (k = 4u * i; k < n; ++k) out_last[k] = a_last[k] + b_last[k];
  }
}

__kernel void vector_add_vec4(__global const uint4 *restrict a, __global const uint4 *restrict b,
                              __global uint4 *restrict out, uint n) {
  const uint item = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  add_four(a, b, out, item, n);
}

__kernel void vector_add_vec4_strided4(__global const uint4 *restrict a,
                                       __global const uint4 *restrict b,
                                       __global uint4 *restrict out, uint n) {
  const uint items = (uint)get_global_size(0) * (uint)get_global_size(1);
  const uint i0 = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);
  const uint i1 = i0 + items;
  const uint i2 = i1 + items;
  const uint i3 = i2 + items;

  if (i3 < n / 4u) {
    /* All loads before the first store. */
    const uint4 sum0 = a[i0] + b[i0];
    const uint4 sum1 = a[i1] + b[i1];
    const uint4 sum2 = a[i2] + b[i2];
    const uint4 sum3 = a[i3] + b[i3];
    out[i0] = sum0;
    out[i1] = sum1;
    out[i2] = sum2;
    out[i3] = sum3;
  } else {
    add_four(a, b, out, i0, n);
    add_four(a, b, out, i1, n);
    add_four(a, b, out, i2, n);
    add_four(a, b, out, i3, n);
  }
}

__kernel void vector_add_persistent(__global const uint4 *restrict a,
                                    __global const uint4 *restrict b, __global uint4 *restrict out,
                                    uint n) {
  const uint items = (uint)get_global_size(0) * (uint)get_global_size(1);
  uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  for (; i + 3u * items < n / 4u; i += 4u * items) {
    const uint4 sum0 = a[i] + b[i];
    const uint4 sum1 = a[i + items] + b[i + items];
    const uint4 sum2 = a[i + 2u * items] + b[i + 2u * items];
    const uint4 sum3 = a[i + 3u * items] + b[i + 3u * items];
    out[i] = sum0;
    out[i + items] = sum1;
    out[i + 2u * items] = sum2;
    out[i + 3u * items] = sum3;
  }
  for (; i <= n / 4u; i += items) add_four(a, b, out, i, n);
}
