/*
 * The dot products of dot.cl with a as a width x height image of CL_RGBA, CL_FLOAT and b as a
 * buffer of as many vectors: one operand comes through the texture cache, the other through the
 * cache of buffers, so that a GPU which has both uses both. Items outside the image do nothing.
 */
__constant sampler_t nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void dot_image_buffer(__read_only image2d_t a, __global const float4 *restrict b,
                               __global float *restrict out, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  const uint i = y * width + x;

  if (x < width && y < height) out[i] = dot(read_imagef(a, nearest, (int2)((int)x, (int)y)), b[i]);
}
