/*
 * Dot products of pairs of four-component vectors: out[i] = a[i] . b[i].
 *
 * a and b hold width * height vectors, out as many floats; each is smaller than 2^32 bytes, and
 * they do not overlap. Any width and height from 1 up. Items beyond the pairs do nothing.
 *
 *   dot_buffer  1 pair an item
 *
 * dot_image.cl has the variants through images.
 */
__kernel void dot_buffer(__global const float4 *restrict a, __global const float4 *restrict b,
                         __global float *restrict out, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  const uint i = y * width + x;

  if (x < width && y < height) out[i] = dot(a[i], b[i]);
}
