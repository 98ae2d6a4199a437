/*
 * The separable convolution of convolution.cl through local memory, in one pass over the image.
 *
 *   convolution_local  work-groups of 32 x 8 for 128 x 32 pixels, CONVOLUTION_RADIUS of 8 at most
 *
 * A work-group sums the rows that its pixels need along x, four pixels an item at a time, into
 * local memory, 24 KiB, and then the columns of these sums, 16 rows of one column an item. Where
 * the width is a multiple of 4, a load takes four pixels.
 *
 * Compile with the kernels folder on the include path.
 */
#include "convolution/convolution.clh"

#define GROUP_X 32
#define GROUP_Y 8
#define TILE_X (4 * GROUP_X)
#define TILE_Y (4 * GROUP_Y)
#define TILE_ROWS (TILE_Y + 2 * CONVOLUTION_RADIUS)
#define ITEM_ROWS 16 /* of the one column that an item sums */

/* Columns x to x + 3 of a row, each clamped to the image. `whole`: x and width are multiples of 4.
 */
static float4 load4(__global const float *row, int x, uint width, bool whole) {
  const int last = (int)width - 1;
  float4 pixels;

  if (!whole)
    return (float4)(row[clamp(x, 0, last)], row[clamp(x + 1, 0, last)], row[clamp(x + 2, 0, last)],
                    row[clamp(x + 3, 0, last)]);
  pixels = *(__global const float4 *)(row + clamp(x, 0, last - 3));
  if (x < 0) return pixels.xxxx;
  return x > last ? pixels.wwww : pixels;
}

/* The taps along x around columns x to x + 3. */
static float4 row_sums(__global const float *row, __constant float *weights, int x, uint width,
                       bool whole) {
  float near[20]; /* columns x - 8 to x + 11 */
  float sums[4];
  int i, k;

  CONVOLUTION_UNROLL
  for (i = 0; i < 5; ++i) {
    const float4 four = load4(row, x + 4 * i - 8, width, whole);
    near[4 * i] = four.x;
    near[4 * i + 1] = four.y;
    near[4 * i + 2] = four.z;
    near[4 * i + 3] = four.w;
  }
  CONVOLUTION_UNROLL
  for (k = 0; k < 4; ++k) {
    sums[k] = 0.0f;
    CONVOLUTION_UNROLL
    for (i = 0; i < CONVOLUTION_TAPS; ++i)
      sums[k] += weights[i] * near[k + i + 8 - CONVOLUTION_RADIUS];
  }
  return (float4)(sums[0], sums[1], sums[2], sums[3]);
}

__kernel __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) void convolution_local(
    __global const float *restrict source, __constant float *weights,
    __global float *restrict destination, uint width, uint height) {
  __local float sums[TILE_ROWS][TILE_X];
  const uint item_x = (uint)get_local_id(0);
  const uint item_y = (uint)get_local_id(1);
  const int left = TILE_X * (int)get_group_id(0) + 4 * (int)item_x;
  const int top = TILE_Y * (int)get_group_id(1);
  const bool whole = (width & 3u) == 0u;
  const uint item = item_y * GROUP_X + item_x;
  const uint column = item % TILE_X;
  const uint first = item / TILE_X * ITEM_ROWS;
  const uint x = TILE_X * (uint)get_group_id(0) + column;
  float below[ITEM_ROWS + 2 * CONVOLUTION_RADIUS];
  int i, j;

  for (i = (int)item_y; i < TILE_ROWS; i += GROUP_Y) {
    const uint row = clamped(top + i - CONVOLUTION_RADIUS, height);
    vstore4(row_sums(source + row * width, weights, left, width, whole), 0, &sums[i][4u * item_x]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  CONVOLUTION_UNROLL
  for (i = 0; i < ITEM_ROWS + 2 * CONVOLUTION_RADIUS; ++i) below[i] = sums[first + (uint)i][column];
  CONVOLUTION_UNROLL
  for (i = 0; i < ITEM_ROWS; ++i) {
    const uint y = (uint)top + first + (uint)i;
    float sum = 0.0f;
    CONVOLUTION_UNROLL
    for (j = 0; j < CONVOLUTION_TAPS; ++j) sum += weights[CONVOLUTION_TAPS + j] * below[i + j];
    if (x < width && y < height) destination[y * width + x] = sum;
  }
}
