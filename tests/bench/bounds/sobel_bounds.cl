/*
 * sobel_words.cl with a part left out, to see what its time is spent on. Rows of a multiple of 16
 * bytes alone.
 *
 *   sobel_words, with -DBOUNDS_CACHED  the same instructions on the first 64 rows again and again,
 *                                      which stay in the cache: no memory
 *   sobel_moved                        the same loads and stores, and next to no arithmetic
 *   sobel_once                         each byte loaded once, by the item that stores it twice
 */
#ifdef BOUNDS_CACHED
static size_t repeated_id(uint dimension) {
  return dimension == 1u ? get_global_id(1) % 16u : get_global_id(dimension);
}
#define get_global_id repeated_id
#endif
#include "sobel/sobel_words.cl"

__kernel void sobel_moved(__global const uchar *restrict source, __global uchar *restrict x_plane,
                          __global uchar *restrict y_plane, uint width, uint height) {
  const uint x = 16u * (uint)get_global_id(0);
  const uint y = SOBEL_ROWS * (uint)get_global_id(1);
  uint8 words[SOBEL_ROWS + 2];
  uint i;

  if (x >= width || y >= height) return;
  WORDS_UNROLL
  for (i = 0u; i < SOBEL_ROWS + 2; ++i)
    words[i] = load_whole(source, sobel_clamp(y, i, height) * width, x, width);
  WORDS_UNROLL
  for (i = 0u; i < SOBEL_ROWS; ++i) {
    const uint at = (y + i) * width + x;
    if (y + i >= height) return;
    store_whole(words[i].s1234 ^ words[i + 1u].s0123 ^ words[i + 2u].s1234, x_plane + at);
    store_whole(words[i].s1234 ^ words[i + 1u].s2345 ^ words[i + 2u].s1234, y_plane + at);
  }
}

__kernel void sobel_once(__global const uchar *restrict source, __global uchar *restrict x_plane,
                         __global uchar *restrict y_plane, uint width, uint height) {
  const uint x = 16u * (uint)get_global_id(0);
  const uint y = SOBEL_ROWS * (uint)get_global_id(1);
  uint4 words[SOBEL_ROWS];
  uint i;

  if (x >= width || y >= height) return;
  WORDS_UNROLL
  for (i = 0u; i < SOBEL_ROWS; ++i)
    words[i] = *(__global const uint4 *)(source + min(y + i, height - 1u) * width + x);
  WORDS_UNROLL
  for (i = 0u; i < SOBEL_ROWS; ++i) {
    const uint at = (y + i) * width + x;
    if (y + i >= height) return;
    store_whole(words[i], x_plane + at);
    store_whole(words[i], y_plane + at);
  }
}
