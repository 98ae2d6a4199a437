/*
 * Dot products of pairs of four-component vectors: out[i] = a[i] . b[i].
 *
 * a and b hold width * height vectors, out as many floats; each is smaller than 2^32 bytes, and
 * they do not overlap. Any width and height from 1 up. The pairs are taken as one row: the
 * variants for several pairs an item number the items of the NDRange, whatever its shape. Items
 * beyond the pairs do nothing.
 *
 *   dot_buffer           1 pair an item
 *   dot_buffer_vec4      4 neighbouring pairs an item, one 16-byte store
 *   dot_buffer_strided4  4 pairs an item, as far apart as there are items, so that at every
 *                        load and store neighbouring items touch neighbouring memory
 *
 * dot_image.cl has the variant through images.
 */
__kernel void dot_buffer(__global const float4 *restrict a, __global const float4 *restrict b,
                         __global float *restrict out, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  const uint i = y * width + x;

  if (x < width && y < height) out[i] = dot(a[i], b[i]);
}

__kernel void dot_buffer_vec4(__global const float4 *restrict a, __global const float4 *restrict b,
                              __global float4 *restrict out, uint width, uint height) {
  const uint item = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);
  const uint pairs = width * height;
  uint i = 4u * item;

  if (item < pairs / 4u) {
    out[item] = (float4)(dot(a[i], b[i]), dot(a[i + 1u], b[i + 1u]), dot(a[i + 2u], b[i + 2u]),
                         dot(a[i + 3u], b[i + 3u]));
  } else if (item == pairs / 4u) {
    __global float *last = (__global float *)out;
    for (; i < pairs; ++i) last[i] = dot(a[i], b[i]);
  }
}

__kernel void dot_buffer_strided4(__global const float4 *restrict a,
                                  __global const float4 *restrict b, __global float *restrict out,
                                  uint width, uint height) {
  const uint item = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);
  const uint items = (uint)get_global_size(0) * (uint)get_global_size(1);
  const uint pairs = width * height;
  uint i = item;

  if (item + 3u * items < pairs) {
    const uint i1 = item + items;
    const uint i2 = i1 + items;
    const uint i3 = i2 + items;
    /* All loads before the first store. */
    const float d0 = dot(a[i], b[i]);
    const float d1 = dot(a[i1], b[i1]);
    const float d2 = dot(a[i2], b[i2]);
    const float d3 = dot(a[i3], b[i3]);
    out[i] = d0;
    out[i1] = d1;
    out[i2] = d2;
    out[i3] = d3;
  } else {
    for (; i < pairs; i += items) out[i] = dot(a[i], b[i]);
  }
}
