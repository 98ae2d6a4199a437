/*
 * Epsilon filter of an 8-bit luma plane, buffer variants for large GPUs. epsilon.cl has the
 * definition.
 *
 * Both planes hold height rows of width bytes with no padding, width * height < 2^32, and do not
 * overlap. threshold is in levels, 0 to 255. Any width and height from 1 up. Dimension 0 of the
 * NDRange is x, dimension 1 is y, both in units of 4 pixels; items outside the image do nothing.
 *
 *   epsilon_float_4x4         4 x 4 pixels an item, float arithmetic; exact
 *   epsilon_float_4x4_select  the same with no comparison
 *
 * Such a GPU reads and writes the two bytes of a pixel in a fraction of the time that 81
 * comparisons take: arithmetic is the bound, and float operations are those that it has most of. So
 * a level v is held as the float 2^15 + v. Differences are what they were, and one addition both
 * sums and counts: the total, at most 81 * (2^15 + 255) < 2^24, is exact, and is count * 2^15 +
 * sum. A byte becomes such a float by being put in the second byte of the pattern of 2^15; no
 * conversion is needed.
 *
 * Operations a pixel: 81 times a subtraction, a comparison and an addition, or in `select` a
 * subtraction, an addition whose result is clamped to 0..1 (a free modifier on most GPUs) and a
 * multiplication with an addition: 243. An item's 12 rows of 12 columns serve 16 pixels: 9 bytes a
 * pixel are made floats, in one or two operations each, and about 3 words loaded, in place of 81 of
 * either. With addresses and the average that is under 300.
 *
 * Two pixels in the halves of a 32-bit integer would take more: such lanes have no comparison, so
 * each takes eight integer operations for two pixels, of which large GPUs do half as many.
 *
 * Compile with the kernels folder on the include path. The average is that of epsilon.cl.
 */
#include "epsilon/epsilon_words.clh"

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

#define EPSILON_ADD_COMPARE(p, centre, total)                                          \
  do {                                                                                 \
    const float4 value = (p);                                                          \
    total += select((float4)(0.0f), value, fabs(value - (centre)) <= (float4)(limit)); \
  } while (0)

/* The weight is 1 where the difference is up to the threshold, and 0 where it is more. */
#define EPSILON_ADD_WEIGHT(p, centre, total)                                     \
  do {                                                                           \
    const float4 value = (p);                                                    \
    total += clamp((limit + 1.0f) - fabs(value - (centre)), 0.0f, 1.0f) * value; \
  } while (0)

/* The comparison or, which is constant where this is inlined, the weight. */
#define EPSILON_ADD(p, centre, total)        \
  do {                                       \
    if (branch_free)                         \
      EPSILON_ADD_WEIGHT(p, centre, total);  \
    else                                     \
      EPSILON_ADD_COMPARE(p, centre, total); \
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

/* 4 x 4 pixels an item. Row r of the 12 is in the windows of the pixels of rows r - 8 to r. */
static inline void epsilon_4x4(__global const uchar *source, __global uchar *destination,
                               uint width, uint height, uint threshold, bool branch_free) {
  const uint x = 4u * (uint)get_global_id(0);
  const uint y = 4u * (uint)get_global_id(1);

  if (x >= width || y >= height) return;

  const float limit = convert_float(min(threshold, 255u));
  const float4 centre0 = epsilon_centre(source, x, y, width, height);
  const float4 centre1 = epsilon_centre(source, x, y + 1u, width, height);
  const float4 centre2 = epsilon_centre(source, x, y + 2u, width, height);
  const float4 centre3 = epsilon_centre(source, x, y + 3u, width, height);
  float4 total0 = (float4)(0.0f);
  float4 total1 = (float4)(0.0f);
  float4 total2 = (float4)(0.0f);
  float4 total3 = (float4)(0.0f);
  int r;

  for (r = 0; r < 12; ++r) {
    const uint row = (uint)clamp((int)y + r - 4, 0, (int)height - 1) * width;
    const uint4 words = epsilon_columns12(source, row, x, width);
    const float4 left = epsilon_unpack(words.x);
    const float4 here = epsilon_unpack(words.y);
    const float4 right = epsilon_unpack(words.z);
    if (r <= 8) EPSILON_ADD_ROW(centre0, total0);
    if (r >= 1 && r <= 9) EPSILON_ADD_ROW(centre1, total1);
    if (r >= 2 && r <= 10) EPSILON_ADD_ROW(centre2, total2);
    if (r >= 3) EPSILON_ADD_ROW(centre3, total3);
  }

  const uint at = y * width + x;
  epsilon_store(destination, at, epsilon_averages(total0), width - x);
  if (y + 1u < height) epsilon_store(destination, at + width, epsilon_averages(total1), width - x);
  if (y + 2u < height)
    epsilon_store(destination, at + 2u * width, epsilon_averages(total2), width - x);
  if (y + 3u < height)
    epsilon_store(destination, at + 3u * width, epsilon_averages(total3), width - x);
}

__kernel void epsilon_float_4x4(__global const uchar *restrict source,
                                __global uchar *restrict destination, uint width, uint height,
                                uint threshold) {
  epsilon_4x4(source, destination, width, height, threshold, false);
}

__kernel void epsilon_float_4x4_select(__global const uchar *restrict source,
                                       __global uchar *restrict destination, uint width,
                                       uint height, uint threshold) {
  epsilon_4x4(source, destination, width, height, threshold, true);
}
