/*
 * Sobel gradients with Qualcomm's texture unit (cl_qcom_accelerated_image_ops): the same definition
 * as in sobel.cl.
 *
 *   sobel_qcom  1 pixel an item, two convolutions
 *
 * `source` is a CL_R, CL_UNORM_INT8 image. `weights_x` and `weights_y` are 3x3 weight
 * images of a signed type whose centre is (1, 1), made by the application: Gx and Gy as
 * sobel_reference.hpp shows them, not mirrored.
 *
 * A compiler that has none of these built-ins parses this with what Kiln's host step declares in
 * front (builder/compile/declarations/qcom.clh).
 */
#ifdef cl_qcom_accelerated_image_ops
#pragma OPENCL EXTENSION cl_qcom_accelerated_image_ops : enable
#endif

__constant sampler_t edge_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void sobel_qcom(__read_only image2d_t source, __read_only qcom_weight_image_t weights_x,
                         __read_only qcom_weight_image_t weights_y,
                         __global uchar *restrict gradient_x, __global uchar *restrict gradient_y,
                         uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  float gx = 0.0f;
  float gy = 0.0f;

  if (x >= width || y >= height) return;

  if (x != 0u && y != 0u && x + 1u != width && y + 1u != height) {
    const float2 middle = (float2)((float)x + 0.5f, (float)y + 0.5f);
    gx = qcom_convolve_imagef(source, edge_sampler, middle, weights_x).x;
    gy = qcom_convolve_imagef(source, edge_sampler, middle, weights_y).x;
  }
  gradient_x[y * width + x] = convert_uchar_sat_rte(fabs(gx) * 255.0f);
  gradient_y[y * width + x] = convert_uchar_sat_rte(fabs(gy) * 255.0f);
}
