/*
 * Sobel gradients, read through an image: the same definition as in sobel.cl.
 *
 *   sobel_image  1 pixel an item, eight texels
 *
 * `source` is a CL_R, CL_UNORM_INT8 image of width x height; the outputs are planes in buffers.
 * Needs a device with image support.
 */
__constant sampler_t edge_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

static float sobel_texel(read_only image2d_t source, int2 place) {
  return read_imagef(source, edge_sampler, place).x;
}

__kernel void sobel_image(read_only image2d_t source, __global uchar *restrict gradient_x,
                          __global uchar *restrict gradient_y, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  float gx = 0.0f;
  float gy = 0.0f;

  if (x >= width || y >= height) return;

  if (x != 0u && y != 0u && x + 1u != width && y + 1u != height) {
    const int2 place = (int2)((int)x, (int)y);
    const float above_left = sobel_texel(source, place + (int2)(-1, -1));
    const float above_right = sobel_texel(source, place + (int2)(1, -1));
    const float below_left = sobel_texel(source, place + (int2)(-1, 1));
    const float below_right = sobel_texel(source, place + (int2)(1, 1));
    const float left = sobel_texel(source, place + (int2)(-1, 0));
    const float right = sobel_texel(source, place + (int2)(1, 0));
    const float above = sobel_texel(source, place + (int2)(0, -1));
    const float below = sobel_texel(source, place + (int2)(0, 1));

    gx = (above_right - above_left) + 2.0f * (right - left) + (below_right - below_left);
    gy = (below_left - above_left) + 2.0f * (below - above) + (below_right - above_right);
  }
  gradient_x[y * width + x] = convert_uchar_sat_rte(fabs(gx) * 255.0f);
  gradient_y[y * width + x] = convert_uchar_sat_rte(fabs(gy) * 255.0f);
}
