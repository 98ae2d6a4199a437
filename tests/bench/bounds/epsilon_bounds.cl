/*
 * epsilon_half.cl with a part left out, to see what its time is spent on.
 *
 *   epsilon_half_8x4, with -DBOUNDS_CACHED  the same instructions on the first 64 rows again and
 *                                           again, which stay in the cache: no memory
 *   epsilon_moved                           the same loads and stores, and next to no arithmetic
 */
#ifdef BOUNDS_CACHED
static size_t repeated_id(uint dimension) {
  return dimension == 1u ? get_global_id(1) % 16u : get_global_id(dimension);
}
#define get_global_id repeated_id
#endif
#include "epsilon/epsilon_half.cl"

__kernel void epsilon_moved(__global const uchar *restrict source,
                            __global uchar *restrict destination, uint width, uint height,
                            uint threshold) {
  const uint x = 8u * (uint)get_global_id(0);
  const uint y = 4u * (uint)get_global_id(1);
  uint4 all = (uint4)(threshold);
  uint i;

  if (x >= width || y >= height) return;
  for (i = 0u; i < 12u; ++i) all ^= epsilon_row(source, x, (int)(y + i) - 4, width, height);
  for (i = 0u; i < 4u; ++i) {
    const uint at = (y + i) * width + x;
    if (y + i >= height) return;
    epsilon_store(destination, at, as_uchar4(all.x ^ all.y), width - x);
    if (x + 4u < width)
      epsilon_store(destination, at + 4u, as_uchar4(all.z ^ all.w), width - x - 4u);
  }
}
