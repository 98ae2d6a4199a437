/*
 * Doubles an 8-bit image of four channels in both directions with a filter of Qualcomm's.
 * bicubic.cl has the definition.
 *
 * Needs cl_qcom_filter_bicubic. source is a width x height image of CL_RGBA, CL_UNORM_INT8,
 * destination one of 2 width x 2 height. Dimensions 0 and 1 of the NDRange are the destination's
 * x and y.
 *
 *   bicubic_qcom  1 pixel an item, 1 read. How the device rounds is its own: 1 level is tolerated.
 */

/* The guide and the samples spell the filter differently; only one need be known. */
#ifdef QCOM_CLK_FILTER_BICUBIC
#define BICUBIC_FILTER QCOM_CLK_FILTER_BICUBIC
#else
#define BICUBIC_FILTER QCOM_CLK_FILTER_CUBIC
#endif

/* Its border colour is (0, 0, 0, 0). */
__constant sampler_t bicubic = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | BICUBIC_FILTER;

__kernel void bicubic_qcom(__read_only image2d_t source, __write_only image2d_t destination,
                           uint width, uint height) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);

  if ((uint)x >= 2u * width || (uint)y >= 2u * height) return;

  write_imagef(destination, (int2)(x, y),
               read_imagef(source, bicubic, ((float2)((float)x, (float)y) + 0.5f) * 0.5f));
}
