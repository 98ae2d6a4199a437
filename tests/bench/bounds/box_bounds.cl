/*
 * box_columns.cl with a part left out, to see what its time is spent on. Widths of a multiple of 4
 * alone.
 *
 *   box_columns, with -DBOUNDS_CACHED  the same instructions on the first 64 rows again and again,
 *                                      which stay in the cache: no memory
 *   box_moved                          the same loads and stores, no sums, no local memory
 *   box_once                           each byte loaded once
 */
#ifdef BOUNDS_CACHED
static size_t repeated_group(uint dimension) {
  return dimension == 1u ? get_group_id(1) % 4u : get_group_id(dimension);
}
#define get_group_id repeated_group
#endif
#include "box/box_columns.cl"

/* What a strip moves, in the shape of box_columns. */
static void box_move(__global const uint *restrict source, __global uint *restrict destination,
                     uint image_width, uint image_height, bool twice) {
  const int width = (int)image_width;
  const int height = (int)image_height;
  const uint item = (uint)get_local_id(0);
  const int x = 4 * (int)((BOX_GROUP - 2) * (uint)get_group_id(0) + item) - 4;
  const bool writes = item != 0u && item != BOX_GROUP - 1 && x < width;
  int y = BOX_ROWS * (int)get_group_id(1);
  const int bottom = min(y + BOX_ROWS, height);
  uint16 sums = (uint16)(0u);

  if (twice)
    sums = box_load4(source, x, y - 5, width, height, true) ^
           box_load4(source, x, y - 1, width, height, true);
  for (; y < bottom; y += 4) {
    const uint16 next = box_load4(source, x, twice ? y + 3 : y, width, height, true);
    sums ^= next;
    if (twice) sums ^= box_load4(source, x, y - 5, width, height, true);
    if (!writes) continue;
    box_store(sums.s0123, destination + (uint)y * image_width, x, width, true);
    if (y + 1 < height)
      box_store(sums.s4567, destination + (uint)(y + 1) * image_width, x, width, true);
    if (y + 2 < height)
      box_store(sums.s89ab, destination + (uint)(y + 2) * image_width, x, width, true);
    if (y + 3 < height)
      box_store(sums.scdef, destination + (uint)(y + 3) * image_width, x, width, true);
  }
}

__kernel __attribute__((reqd_work_group_size(BOX_GROUP, 1, 1))) void box_moved(
    __global const uint *restrict source, __global uint *restrict destination, uint width,
    uint height) {
  box_move(source, destination, width, height, true);
}

__kernel __attribute__((reqd_work_group_size(BOX_GROUP, 1, 1))) void box_once(
    __global const uint *restrict source, __global uint *restrict destination, uint width,
    uint height) {
  box_move(source, destination, width, height, false);
}
