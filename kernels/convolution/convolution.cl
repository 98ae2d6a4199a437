/*
 * Separable convolution of a plane of float, with weights that the host gives at each launch.
 *
 *   destination(x, y) = sum over j and i of
 *                       weights_y[j] * weights_x[i] * source(x + i - R, y + j - R)
 *
 * with i and j from 0 to 2 R, R = CONVOLUTION_RADIUS (7: 15 taps along each axis) and coordinates
 * clamped to the image. Weights are not turned round, as in most image libraries: `weights` holds
 * the taps along x, from left to right, then those along y, from top to bottom. It is in constant
 * memory, or with CONVOLUTION_GLOBAL in global memory.
 *
 * The planes hold height rows of width floats with no padding, fewer than 2^31 bytes, and do not
 * overlap. Any width and height from 1 up; items outside the image do nothing.
 *
 *   convolution_direct   1 pixel an item, all of its window. With CONVOLUTION_SIZED Qualcomm's
 *                        compiler is told how many bytes the weights take: constant memory of a
 *                        known size can be loaded onto the chip before the kernel runs, and such an
 *                        argument otherwise stays in global memory
 *   convolution_rows     1 pixel an item, the taps along x; then
 *   convolution_columns  1 column by 8 rows an item, those along y
 *   convolution_local    both in one pass through local memory, 24 KiB, in work-groups of 32 x 8
 *                        for 128 x 32 pixels: sums along x of the rows that they need, four pixels
 *                        an item at a time, then along y, 16 rows of one column an item. R is 8 at
 *                        most
 */

/* Taps on either side of the middle one. */
#ifndef CONVOLUTION_RADIUS
#define CONVOLUTION_RADIUS 7
#endif
#define CONVOLUTION_TAPS (2 * CONVOLUTION_RADIUS + 1)

#ifdef CONVOLUTION_GLOBAL
#define WEIGHTS __global const float *restrict weights
#else
#define WEIGHTS __constant float *weights
#endif

/* In front of a loop over taps, so that its arrays stay in registers. Others unroll it unasked. */
#ifdef cl_nv_pragma_unroll
#define CONVOLUTION_UNROLL _Pragma("unroll")
#else
#define CONVOLUTION_UNROLL
#endif

/* Column or row `at`, or the nearest inside. */
static uint clamped(int at, uint extent) { return (uint)clamp(at, 0, (int)extent - 1); }

/* The taps along x of the row that begins at row[0], around column x. */
static float row_sum(__global const float *row, WEIGHTS, uint x, uint width) {
  float sum = 0.0f;
  int i;

  CONVOLUTION_UNROLL
  for (i = 0; i < CONVOLUTION_TAPS; ++i)
    sum += weights[i] * row[clamped((int)x + i - CONVOLUTION_RADIUS, width)];
  return sum;
}

#ifdef CONVOLUTION_SIZED
#ifdef __clang__ /* the host check, which knows no attributes of vendors */
#pragma clang diagnostic ignored "-Wunknown-attributes"
#endif
#define SIZED __attribute__((max_constant_size(2 * CONVOLUTION_TAPS * 4)))
#else
#define SIZED
#endif

__kernel void convolution_direct(__global const float *restrict source, WEIGHTS SIZED,
                                 __global float *restrict destination, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  float sum = 0.0f;
  int j;

  if (x >= width || y >= height) return;

  for (j = 0; j < CONVOLUTION_TAPS; ++j) {
    const uint row = clamped((int)y + j - CONVOLUTION_RADIUS, height);
    sum += weights[CONVOLUTION_TAPS + j] * row_sum(source + row * width, weights, x, width);
  }
  destination[y * width + x] = sum;
}

__kernel void convolution_rows(__global const float *restrict source, WEIGHTS,
                               __global float *restrict rows, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x < width && y < height) rows[y * width + x] = row_sum(source + y * width, weights, x, width);
}

#define COLUMN_ROWS 8

__kernel void convolution_columns(__global const float *restrict rows, WEIGHTS,
                                  __global float *restrict destination, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = COLUMN_ROWS * (uint)get_global_id(1);
  float column[COLUMN_ROWS + 2 * CONVOLUTION_RADIUS];
  int i, j;

  if (x >= width || y >= height) return;

  CONVOLUTION_UNROLL
  for (i = 0; i < COLUMN_ROWS + 2 * CONVOLUTION_RADIUS; ++i)
    column[i] = rows[clamped((int)y + i - CONVOLUTION_RADIUS, height) * width + x];
  CONVOLUTION_UNROLL
  for (i = 0; i < COLUMN_ROWS; ++i) {
    float sum = 0.0f;
    CONVOLUTION_UNROLL
    for (j = 0; j < CONVOLUTION_TAPS; ++j) sum += weights[CONVOLUTION_TAPS + j] * column[i + j];
    if (y + (uint)i < height) destination[(y + (uint)i) * width + x] = sum;
  }
}

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
