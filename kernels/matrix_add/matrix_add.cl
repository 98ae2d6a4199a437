/*
 * Sum of two matrices of float: out = a + b.
 *
 * Each holds height rows of width floats with no padding and is smaller than 2^32 bytes; they do
 * not overlap. Any width and height from 1 up. Items beyond the matrix do nothing.
 *
 *   matrix_add_scalar  1 element an item
 *   matrix_add_vec4    4 elements an item. It takes the matrices as one row, so that every vector
 * is aligned, and numbers the items of the NDRange, whatever its shape
 */
__kernel void matrix_add_scalar(__global const float *restrict a, __global const float *restrict b,
                                __global float *restrict out, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  const uint i = y * width + x;

  if (x < width && y < height) out[i] = a[i] + b[i];
}

__kernel void matrix_add_vec4(__global const float4 *restrict a, __global const float4 *restrict b,
                              __global float4 *restrict out, uint width, uint height) {
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);
  const uint count = width * height;
  uint k;

  if (i < count / 4u) {
    out[i] = a[i] + b[i];
  } else if (i == count / 4u) { /* the last count mod 4 */
    for (k = 4u * i; k < count; ++k)
      ((__global float *)out)[k] = ((__global const float *)a)[k] + ((__global const float *)b)[k];
  }
}
