/*
 * 8x8 box blur of an 8-bit image of four channels with a built-in of Qualcomm's. box.cl has the
 * definition.
 *
 * Needs cl_qcom_accelerated_image_ops. source and destination are width x height images of
 * CL_RGBA, CL_UNORM_INT8; `size` is the host's cl_box_filter_size_qcom of 8 by 8. How the device
 * rounds is its own.
 *
 *   box_qcom  one read an item
 */

__constant sampler_t clamp_to_edge =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

__kernel void box_qcom(__read_only image2d_t source, __write_only image2d_t destination, uint width,
                       uint height, qcom_box_size_t size) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);

  if ((uint)x >= width || (uint)y >= height) return;

  /* The middle of a window from x - 4 to x + 3 is the left side of texel x. */
  write_imagef(destination, (int2)(x, y),
               qcom_box_filter_imagef(source, clamp_to_edge, (float2)((float)x, (float)y), size));
}
