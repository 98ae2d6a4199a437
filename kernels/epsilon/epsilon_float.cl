/*
 * Epsilon filter of an 8-bit luma plane, buffer variant for large GPUs. epsilon.cl has the
 * definition.
 *
 * Both planes hold height rows of width bytes with no padding, width * height < 2^32, and do not
 * overlap. threshold is in levels, 0 to 255. Any width and height from 1 up. Dimension 0 of the
 * NDRange is x, dimension 1 is y, both in units of 4 pixels; items outside the image do nothing.
 *
 *   epsilon_float_4x4  4 x 4 pixels an item, float arithmetic, no comparison; exact
 *
 * Such a GPU reads and writes the two bytes of a pixel in a fraction of the time that 81
 * comparisons take: arithmetic is the bound, and float operations are those that it has most of. So
 * a level v is held as the float 2^15 + v. Differences are what they were, and one addition both
 * sums and counts: the total, at most 81 * (2^15 + 255) < 2^24, is exact, and is count * 2^15 +
 * sum. A byte becomes such a float by being put in the second byte of the pattern of 2^15; no
 * conversion is needed.
 *
 * Operations a pixel: 81 times a subtraction, an addition whose result is clamped to 0..1 (a free
 * modifier on most GPUs) and a multiplication with an addition: 243. An item's 12 rows of 12
 * columns serve 16 pixels: 9 bytes a pixel are made floats, in one or two operations each, and
 * about 3 words loaded, in place of 81 of either. With addresses and the average that is under 300.
 *
 * Two pixels in the halves of a 32-bit integer would take more: such lanes have no comparison, so
 * each takes eight integer operations for two pixels, of which large GPUs do half as many.
 *
 * The average is that of epsilon.cl. Four pixels of a row are taken at a time, as one 32-bit word.
 * Rows have no padding, so a row may begin anywhere in a word; buffers begin with one. For
 * little-endian devices.
 */

/* The word that begins `shift` bits into `low` and goes on in `high`. */
static uint epsilon_join(uint low, uint high, uint shift) {
  return (uint)(((ulong)high << 32 | (ulong)low) >> shift);
}

/* Columns x to x + 3 of the row that begins at source[row], each clamped to the image. */
static uint epsilon_clamped(__global const uchar *source, uint row, int x, uint width) {
  const int last = (int)width - 1;
  return as_uint((uchar4)(source[row + (uint)clamp(x, 0, last)],
                          source[row + (uint)clamp(x + 1, 0, last)],
                          source[row + (uint)clamp(x + 2, 0, last)],
                          source[row + (uint)clamp(x + 3, 0, last)]));
}

/* Columns x - 4 to x + 7 of the row that begins at source[row]: x, y and z of the result. */
static uint4 epsilon_columns12(__global const uchar *source, uint row, uint x, uint width) {
  if (x >= 4u && x + 12u <= width) { /* 16 bytes hold the 12, wherever they begin */
    const uint at = row + x - 4u;
    __global const uint *words = (__global const uint *)source + at / 4u;
    const uint shift = at % 4u * 8u;
    const uint w1 = words[1];
    const uint w2 = words[2];
    return (uint4)(epsilon_join(words[0], w1, shift), epsilon_join(w1, w2, shift),
                   epsilon_join(w2, words[3], shift), 0u);
  }
  return (uint4)(epsilon_clamped(source, row, (int)x - 4, width),
                 epsilon_clamped(source, row, (int)x, width),
                 epsilon_clamped(source, row, (int)x + 4, width), 0u);
}

/* Stores the first `count` pixels of `p`, or all four, at destination[at]. */
static void epsilon_store(__global uchar *destination, uint at, uchar4 p, uint count) {
  if (count >= 4u && at % 4u == 0u) {
    ((__global uint *)destination)[at / 4u] = as_uint(p);
    return;
  }
  destination[at] = p.x;
  if (count > 1u) destination[at + 1u] = p.y;
  if (count > 2u) destination[at + 2u] = p.z;
  if (count > 3u) destination[at + 3u] = p.w;
}

/* 2^15 + v of the four levels v in `word`. */
static float4 epsilon_unpack(uint word) {
  const uint4 second = (uint4)(word << 8, word, word >> 8, word >> 16) & 0xff00u;
  return as_float4(second | 0x47000000u);
}

/* The averages of four windows, from count * 2^15 + sum. */
static uchar4 epsilon_averages(float4 total) {
  const float4 count = floor(total * 0x1p-15f);
  const float4 sum = total - count * 32768.0f;
  return convert_uchar4((sum + floor(count * 0.5f) + 0.5f) / count);
}

/* The weight is 1 where the difference is up to the threshold, and 0 where it is more. */
#define EPSILON_ADD(p, centre, total)                                            \
  do {                                                                           \
    const float4 value = (p);                                                    \
    total += clamp((limit + 1.0f) - fabs(value - (centre)), 0.0f, 1.0f) * value; \
  } while (0)

/* A row of the windows of four pixels. */
#define EPSILON_ADD_ROW(centre, total)                       \
  do {                                                       \
    EPSILON_ADD(left, centre, total);                        \
    EPSILON_ADD((float4)(left.yzw, here.x), centre, total);  \
    EPSILON_ADD((float4)(left.zw, here.xy), centre, total);  \
    EPSILON_ADD((float4)(left.w, here.xyz), centre, total);  \
    EPSILON_ADD(here, centre, total);                        \
    EPSILON_ADD((float4)(here.yzw, right.x), centre, total); \
    EPSILON_ADD((float4)(here.zw, right.xy), centre, total); \
    EPSILON_ADD((float4)(here.w, right.xyz), centre, total); \
    EPSILON_ADD(right, centre, total);                       \
  } while (0)

/* The four pixels from column `x` of row `y`, or of the last row. */
static float4 epsilon_centre(__global const uchar *source, uint x, uint y, uint width,
                             uint height) {
  return epsilon_unpack(epsilon_columns12(source, min(y, height - 1u) * width, x, width).y);
}

/* Row r of an item's 12 is in the windows of the pixels of rows r - 8 to r. */
__kernel void epsilon_float_4x4(__global const uchar *restrict source,
                                __global uchar *restrict destination, uint width, uint height,
                                uint threshold) {
  const uint x = 4u * (uint)get_global_id(0);
  const uint y = 4u * (uint)get_global_id(1);
  float4 centre[4];
  float4 total[4];
  int r, k;

  if (x >= width || y >= height) return;

  const float limit = convert_float(min(threshold, 255u));
#pragma unroll
  for (k = 0; k < 4; ++k) {
    centre[k] = epsilon_centre(source, x, y + (uint)k, width, height);
    total[k] = (float4)(0.0f);
  }
  for (r = 0; r < 12; ++r) {
    const uint row = (uint)clamp((int)y + r - 4, 0, (int)height - 1) * width;
    const uint4 words = epsilon_columns12(source, row, x, width);
    const float4 left = epsilon_unpack(words.x);
    const float4 here = epsilon_unpack(words.y);
    const float4 right = epsilon_unpack(words.z);
#pragma unroll
    for (k = 0; k < 4; ++k)
      if (r >= k && r <= k + 8) EPSILON_ADD_ROW(centre[k], total[k]);
  }
#pragma unroll
  for (k = 0; k < 4; ++k)
    if (y + (uint)k < height)
      epsilon_store(destination, (y + (uint)k) * width + x, epsilon_averages(total[k]), width - x);
}
