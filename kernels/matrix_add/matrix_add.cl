/*
 * Sum of two matrices of float: out = a + b.
 *
 * Each holds height rows of width floats with no padding and is smaller than 2^32 bytes; they do
 * not overlap. Any width and height from 1 up. The vector variants take the matrices as one row,
 * so that every vector is aligned, and number the items of the NDRange, whatever its shape. Items
 * beyond the matrix do nothing.
 *
 *   matrix_add_scalar         1 element an item
 *   matrix_add_vec4           4 elements an item
 *   matrix_add_vec4_strided4  4 vectors of 4 elements an item, as far apart as there are items, so
 *                             that neighbouring items touch neighbouring memory at every access
 */
__kernel void matrix_add_scalar(__global const float *restrict a, __global const float *restrict b,
                                __global float *restrict out, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  const uint i = y * width + x;

  if (x < width && y < height) out[i] = a[i] + b[i];
}

/* The i-th four of `count` elements, or what there is of them. */
static void add_four(__global const float4 *a, __global const float4 *b, __global float4 *out,
                     uint i, uint count) {
  if (i < count / 4u) {
    out[i] = a[i] + b[i];
  } else if (i == count / 4u) {
    __global const float *a_last = (__global const float *)a;
    __global const float *b_last = (__global const float *)b;
    __global float *out_last = (__global float *)out;
    uint k;
    for (k = 4u * i; k < count; ++k) out_last[k] = a_last[k] + b_last[k];
  }
}

__kernel void matrix_add_vec4(__global const float4 *restrict a, __global const float4 *restrict b,
                              __global float4 *restrict out, uint width, uint height) {
  const uint item = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  add_four(a, b, out, item, width * height);
}

__kernel void matrix_add_vec4_strided4(__global const float4 *restrict a,
                                       __global const float4 *restrict b,
                                       __global float4 *restrict out, uint width, uint height) {
  const uint items = (uint)get_global_size(0) * (uint)get_global_size(1);
  const uint count = width * height;
  const uint i0 = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);
  const uint i1 = i0 + items;
  const uint i2 = i1 + items;
  const uint i3 = i2 + items;

  if (i3 < count / 4u) {
    /* All loads before the first store. */
    const float4 sum0 = a[i0] + b[i0];
    const float4 sum1 = a[i1] + b[i1];
    const float4 sum2 = a[i2] + b[i2];
    const float4 sum3 = a[i3] + b[i3];
    out[i0] = sum0;
    out[i1] = sum1;
    out[i2] = sum2;
    out[i3] = sum3;
  } else {
    add_four(a, b, out, i0, count);
    add_four(a, b, out, i1, count);
    add_four(a, b, out, i2, count);
    add_four(a, b, out, i3, count);
  }
}
