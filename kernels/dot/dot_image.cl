/*
 * The dot products of dot.cl through images: width x height of CL_RGBA, CL_FLOAT. Items outside the
 * images do nothing.
 *
 *   dot_image         a and b are images
 *   dot_image_buffer  a is an image, b a buffer: one operand comes through the texture cache, the
 *                     other through the cache of buffers, so that a GPU which has both uses both
 */
__constant sampler_t nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void dot_image(__read_only image2d_t a, __read_only image2d_t b,
                        __global float *restrict out, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x < width && y < height) {
    const int2 at = (int2)((int)x, (int)y);
    out[y * width + x] = dot(read_imagef(a, nearest, at), read_imagef(b, nearest, at));
  }
}

__kernel void dot_image_buffer(__read_only image2d_t a, __global const float4 *restrict b,
                               __global float *restrict out, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  const uint i = y * width + x;

  if (x < width && y < height) out[i] = dot(read_imagef(a, nearest, (int2)((int)x, (int)y)), b[i]);
}
