/*
 * The dot products of dot.cl through images: a and b are width x height images of CL_RGBA,
 * CL_FLOAT; out is a buffer of width * height floats. Items outside the images do nothing.
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
