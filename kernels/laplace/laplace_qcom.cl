/*
 * Laplace sharpening with Qualcomm's texture unit (cl_qcom_accelerated_image_ops): the same
 * definition as in laplace.cl.
 *
 *   laplace_qcom  1 pixel an item, one convolution of all channels
 *
 * `source` is a CL_RGBA, CL_UNORM_INT8 image, since images have no three channels; its last channel
 * is not used. `weights` is a 3x3 weight image of a signed type whose centre is (1, 1), made by
 * the application: 9 in the middle, -1 around it. `destination` is the plain buffer.
 *
 * A compiler that has none of these built-ins parses this with what Kiln's host step declares in
 * front (builder/compile/declarations/qcom.clh).
 */
#ifdef cl_qcom_accelerated_image_ops
#pragma OPENCL EXTENSION cl_qcom_accelerated_image_ops : enable
#endif

__constant sampler_t edge_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void laplace_qcom(__read_only image2d_t source, __read_only qcom_weight_image_t weights,
                           __global uchar *restrict destination, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  float4 result;

  if (x >= width || y >= height) return;

  if (x == 0u || y == 0u || x + 1u == width || y + 1u == height) {
    result = read_imagef(source, edge_sampler, (int2)((int)x, (int)y));
  } else {
    const float2 middle = (float2)((float)x + 0.5f, (float)y + 0.5f);
    result = qcom_convolve_imagef(source, edge_sampler, middle, weights);
  }
  vstore3(convert_uchar3_sat_rte(result.xyz * 255.0f), 0, destination + 3u * (y * width + x));
}
