/*
 * Sum of two vectors of int, modulo 2^32: out = a + b.
 *
 * Each holds n elements and is smaller than 2^32 bytes; they do not overlap. Any n from 1 up. The
 * items of the NDRange are numbered, whatever its shape; those beyond the vector do nothing.
 *
 *   vector_add_scalar    1 element an item
 *   vector_add_strided4  4 elements an item, one by one: neighbouring items are 16 bytes apart
 *   vector_add_vec4      4 elements an item, in one load
 *
 * The elements are uint here: a sum of ints that does not fit has no meaning in C.
 */
__kernel void vector_add_scalar(__global const uint *restrict a, __global const uint *restrict b,
                                __global uint *restrict out, uint n) {
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  if (i < n) out[i] = a[i] + b[i];
}

__kernel void vector_add_strided4(__global const uint *restrict a, __global const uint *restrict b,
                                  __global uint *restrict out, uint n) {
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);
  uint k;

  if (i > n / 4u) return;
  for (k = 4u * i; k < min(4u * i + 4u, n); ++k) out[k] = a[k] + b[k];
}

__kernel void vector_add_vec4(__global const uint4 *restrict a, __global const uint4 *restrict b,
                              __global uint4 *restrict out, uint n) {
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);
  uint k;

  if (i < n / 4u) {
    out[i] = a[i] + b[i];
  } else if (i == n / 4u) { /* the last n mod 4 */
    for (k = 4u * i; k < n; ++k)
      ((__global uint *)out)[k] = ((__global const uint *)a)[k] + ((__global const uint *)b)[k];
  }
}
