/*
 * Motion estimation, the two planes as images of CL_R, CL_UNORM_INT8; block_match.clh has the
 * definition. Dimensions 0 and 1 of the NDRange are the block's column and row; items outside the
 * image do nothing.
 *
 *   block_match_image  a block an item, eight dx at once, in float
 */
#include "block_match/block_match.clh"

__constant sampler_t clamp_to_edge =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

/*
 * Eight pixels to the right of (left, row), in levels: what is read is not exactly v / 255. Macros,
 * as in rusticl 25.0 and 26.2 functions with an image parameter read the kernel's first image.
 */
#define BLOCK_MATCH_TEXEL(plane, column, row) \
  read_imagef(plane, clamp_to_edge, (int2)(column, row)).x
#define BLOCK_MATCH_READ(plane, left, row)                          \
  rint(255.0f * (float8)(BLOCK_MATCH_TEXEL(plane, (left), row),     \
                         BLOCK_MATCH_TEXEL(plane, (left) + 1, row), \
                         BLOCK_MATCH_TEXEL(plane, (left) + 2, row), \
                         BLOCK_MATCH_TEXEL(plane, (left) + 3, row), \
                         BLOCK_MATCH_TEXEL(plane, (left) + 4, row), \
                         BLOCK_MATCH_TEXEL(plane, (left) + 5, row), \
                         BLOCK_MATCH_TEXEL(plane, (left) + 6, row), \
                         BLOCK_MATCH_TEXEL(plane, (left) + 7, row)))

__kernel void block_match_image(__read_only image2d_t target, __read_only image2d_t reference,
                                __global uint *restrict cost, __global uchar2 *restrict vector,
                                uint width, uint height) {
  const uint column = (uint)get_global_id(0);
  const uint row = (uint)get_global_id(1);
  const int left = (int)(BLOCK * column);
  const int top = (int)(BLOCK * row);
  uint best = UINT_MAX;
  uint columns;
  int bottom;
  int dy;
  int y;

  if ((uint)left >= width || (uint)top >= height) return;

  columns = min(BLOCK, width - (uint)left);
  bottom = (int)min((uint)top + BLOCK, height);
  for (dy = -4; dy < 4; ++dy) {
    float8 costs = (float8)(0.0f);
    for (y = top; y < bottom; ++y) {
      const float8 there = BLOCK_MATCH_READ(reference, left - 4, y + dy);
      const float8 beyond = BLOCK_MATCH_READ(reference, left + 4, y + dy);
      costs = block_match_row(costs, BLOCK_MATCH_READ(target, left, y), (float16)(there, beyond),
                              columns);
    }
    best = min(best, block_match_best(costs, (uint)(dy + 4)));
  }
  block_match_store(best, row * ((width + BLOCK - 1u) / BLOCK) + column, cost, vector);
}
