/*
 * Motion estimation over buffers; block_match.clh has the definition.
 *
 *   block_match_generic  a block an item: dimensions 0 and 1 of the NDRange are the block's
 *                        column and row.
 *   block_match_local    a work-group of 8x8 items for eight blocks side by side, whose pixels
 *                        it keeps in local memory. Dimension 0 of the NDRange is as long as a row
 *                        of blocks, dimension 1 as the image is high, both padded to multiples
 *                        of 8.
 *
 * Items outside the image do nothing.
 */
#include "block_match/block_match.clh"

static uint block_match_difference(uchar a, uchar b) {
  const uint difference = abs_diff(a, b);
#ifdef BLOCK_MATCH_SQUARED
  return difference * difference;
#else
  return difference;
#endif
}

/* The best displacement of the block at (left, top), as block_match_store() takes it. */
static uint block_match_search(__global const uchar *target, __global const uchar *reference,
                               uint left, uint top, uint width, uint height) {
  uint best = UINT_MAX;
  uint displacement;

  for (displacement = 0u; displacement < 64u; ++displacement) {
    const int dx = (int)(displacement & 7u) - 4;
    const int dy = (int)(displacement >> 3u) - 4;
    uint sum = 0u;
    uint x;
    uint y;

    for (y = top; y < min(top + BLOCK, height); ++y) {
      const uint here = y * width;
      const uint row = (uint)clamp((int)y + dy, 0, (int)height - 1) * width;
      for (x = left; x < min(left + BLOCK, width); ++x)
        sum += block_match_difference(target[here + x],
                                      reference[row + (uint)clamp((int)x + dx, 0, (int)width - 1)]);
    }
    best = min(best, sum * 64u + displacement);
  }
  return best;
}

__kernel void block_match_generic(__global const uchar *restrict target,
                                  __global const uchar *restrict reference,
                                  __global uint *restrict cost, __global uchar2 *restrict vector,
                                  uint width, uint height) {
  const uint left = BLOCK * (uint)get_global_id(0);
  const uint top = BLOCK * (uint)get_global_id(1);
  const uint blocks = (width + BLOCK - 1u) / BLOCK;
  uint best;

  if (left >= width || top >= height) return;

  best = block_match_search(target, reference, left, top, width, height);
  block_match_store(best, top / BLOCK * blocks + left / BLOCK, cost, vector);
}

#define TILE_BLOCKS 8u
#define TILE_WIDTH (TILE_BLOCKS * BLOCK)

/*
 * Rows of the reference tile: 72 pixels are used. With 80 the eight rows that neighbouring items
 * read at once are in different banks.
 */
#define REFERENCE_ROWS 15u
#define REFERENCE_WIDTH 72u
#define REFERENCE_PITCH 80u

/* Copies a tile that starts at (left, top), clamped to the image, all items of the group together.
 */
static void block_match_fill(__local uchar *tile, uint pitch, uint columns, uint rows,
                             __global const uchar *plane, int left, int top, uint width,
                             uint height) {
  uint i;

  for (i = (uint)(get_local_id(1) * 8 + get_local_id(0)); i < columns * rows; i += 64u) {
    const uint row = i / columns;
    const uint column = i - row * columns;
    const uint y = (uint)clamp(top + (int)row, 0, (int)height - 1);
    const uint x = (uint)clamp(left + (int)column, 0, (int)width - 1);
    tile[row * pitch + column] = plane[y * width + x];
  }
}

/* Local dimension 0 is dy + 4, dimension 1 the block; each item tries eight dx. */
__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void block_match_local(
    __global const uchar *restrict target, __global const uchar *restrict reference,
    __global uint *restrict cost, __global uchar2 *restrict vector, uint width, uint height) {
  __local uint2 target_tile[TILE_WIDTH * BLOCK / 8u];
  __local uint2 reference_tile[REFERENCE_PITCH * REFERENCE_ROWS / 8u];
  __local uint bests[64];
  const uint dy_plus_4 = (uint)get_local_id(0);
  const uint block = (uint)get_local_id(1);
  const uint left = TILE_WIDTH * (uint)get_group_id(0);
  const uint top = BLOCK * (uint)get_group_id(1);
  float8 costs = (float8)(0.0f);
  uint x;
  uint columns;
  uint rows;
  uint row;

  if (left >= width || top >= height) return; /* all items of the group alike */

  block_match_fill((__local uchar *)target_tile, TILE_WIDTH, TILE_WIDTH, BLOCK, target, (int)left,
                   (int)top, width, height);
  block_match_fill((__local uchar *)reference_tile, REFERENCE_PITCH, REFERENCE_WIDTH,
                   REFERENCE_ROWS, reference, (int)left - 4, (int)top - 4, width, height);
  barrier(CLK_LOCAL_MEM_FENCE);

  x = left + BLOCK * block;
  columns = min(BLOCK, width - min(x, width)); /* 0 where the block is outside */
  rows = min(BLOCK, height - top);
  for (row = 0u; row < rows; ++row) {
    const uint2 here = target_tile[row * (TILE_WIDTH / 8u) + block];
    const uint at = (row + dy_plus_4) * (REFERENCE_PITCH / 8u) + block;
    const uint4 there = (uint4)(reference_tile[at], reference_tile[at + 1u]);
    costs = block_match_row(costs, convert_float8(as_uchar8(here)),
                            convert_float16(as_uchar16(there)), columns);
  }
  bests[block * 8u + dy_plus_4] = block_match_best(costs, dy_plus_4);
  barrier(CLK_LOCAL_MEM_FENCE);

  if (dy_plus_4 == 0u && x < width) {
    uint best = bests[block * 8u];
    for (row = 1u; row < 8u; ++row) best = min(best, bests[block * 8u + row]);
    block_match_store(best, top / BLOCK * ((width + BLOCK - 1u) / BLOCK) + x / BLOCK, cost, vector);
  }
}
