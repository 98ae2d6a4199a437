/*
 * Motion estimation with built-ins of Qualcomm's; block_match.clh has the definition. Needs
 * cl_qcom_accelerated_image_ops. The planes are images of CL_R, CL_UNORM_INT8. Dimensions 0 and 1
 * of the NDRange are the block's column and row; items outside the image do nothing.
 *
 *   block_match_qcom  a block an item, one call a displacement. How exact the device's sums are is
 *                     its own: costs may differ, and with them the choice between near ones.
 */
#include "block_match/block_match.clh"

#ifdef BLOCK_MATCH_SQUARED
#define BLOCK_MATCH_QCOM qcom_block_match_ssdf
#define BLOCK_MATCH_ONE (255.0f * 255.0f) /* levels of a difference of 1.0 */
#else
#define BLOCK_MATCH_QCOM qcom_block_match_sadf
#define BLOCK_MATCH_ONE 255.0f
#endif

__constant sampler_t clamp_to_edge =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void block_match_qcom(__read_only image2d_t target, __read_only image2d_t reference,
                               __global uint *restrict cost, __global uchar2 *restrict vector,
                               uint width, uint height) {
  const uint column = (uint)get_global_id(0);
  const uint row = (uint)get_global_id(1);
  const uint2 corner = (uint2)(BLOCK * column, BLOCK * row);
  uint best = UINT_MAX;
  uint2 size;
  uint displacement;

  if (corner.x >= width || corner.y >= height) return;

  size = min((uint2)(BLOCK), (uint2)(width, height) - corner);
  for (displacement = 0u; displacement < 64u; ++displacement) {
    const int2 moved =
        convert_int2(corner) + (int2)((int)(displacement & 7u), (int)(displacement >> 3u)) - 4;
    /* Only the built-in's first image has a sampler, to clamp what is outside. */
    const float sum =
        BLOCK_MATCH_QCOM(reference, clamp_to_edge, convert_float2(moved), size, target, corner).x;
    best = min(best, convert_uint_rte(sum * BLOCK_MATCH_ONE) * 64u + displacement);
  }
  block_match_store(best, row * ((width + BLOCK - 1u) / BLOCK) + column, cost, vector);
}
