/*
 * Epsilon filter of an 8-bit luma plane, a buffer variant for large GPUs with half-precision
 * arithmetic in hardware. epsilon.cl has the definition.
 *
 * Both planes hold height rows of width bytes with no padding, width * height < 2^32, and do not
 * overlap. threshold is in levels, 0 to 255. Any width and height from 1 up. Dimension 0 of the
 * NDRange is x in units of 8 pixels, dimension 1 is y in units of 4; items outside the image do
 * nothing.
 *
 *   epsilon_half_8x4  8 x 4 pixels an item, two to a register; exact
 *
 * 81 comparisons a pixel are the bound (epsilon_float.cl says more), and half does two at the price
 * of one. A level v is held as 1024 + v: two bytes become two such halves by being put into words
 * of that pattern. A neighbour costs four operations for two pixels: its difference from the
 * centre, a weight of 0 or 1, a count, and a sum of differences. All are whole numbers that half
 * holds exactly while the sum stays within 2048. That of a window does up to a threshold of 25,
 * that of a row up to 225; above, and above again, what is whole of its 32nd part moves to a second
 * sum after each row, and after each half row.
 *
 * Compile with the kernels folder on the include path. The average is that of epsilon.cl.
 */
#include "common/half8.clh"
#include "epsilon/epsilon_words.clh"

/* The neighbours `n` of the eight pixels `centre`. */
#define EPSILON_ADD(n, centre, count, sum)                \
  do {                                                    \
    const uint4 difference = half8_subtract(n, centre);   \
    const uint4 weight = half8_weight(limit, difference); \
    count = half8_add(count, weight);                     \
    sum = half8_mad(weight, difference, sum);             \
  } while (0)

/* Moves what is whole of sum / 32 to `total`; at most 16 are left of a sum up to 2048. */
#define EPSILON_FLUSH(total, sum)                                                         \
  do {                                                                                    \
    const uint4 whole = half8_add(half8_mad(sum, thirty_second, nearest), minus_nearest); \
    total = half8_add(total, whole);                                                      \
    sum = half8_mad(whole, minus_32, sum);                                                \
  } while (0)

/* A row of the windows of eight pixels. */
#define EPSILON_ADD_ROW(centre, count, sum, total) \
  do {                                             \
    EPSILON_ADD(even.s0123, centre, count, sum);   \
    EPSILON_ADD(odd.s0123, centre, count, sum);    \
    EPSILON_ADD(even.s1234, centre, count, sum);   \
    EPSILON_ADD(odd.s1234, centre, count, sum);    \
    EPSILON_ADD(even.s2345, centre, count, sum);   \
    if (levels > 225u) EPSILON_FLUSH(total, sum);  \
    EPSILON_ADD(odd.s2345, centre, count, sum);    \
    EPSILON_ADD(even.s3456, centre, count, sum);   \
    EPSILON_ADD(odd.s3456, centre, count, sum);    \
    EPSILON_ADD(even.s4567, centre, count, sum);   \
  } while (0)

/* Columns 0 to 15 in pairs, two to a word. */
static uint8 epsilon_even(uint4 words) {
  return (uint8)(half2_low(words.x), half2_high(words.x), half2_low(words.y), half2_high(words.y),
                 half2_low(words.z), half2_high(words.z), half2_low(words.w), half2_high(words.w));
}

/* Columns 1 to 14 in pairs, and an unused word. */
static uint8 epsilon_odd(uint4 words) {
  return (uint8)(half2_middle(words.x), half2_low(epsilon_join(words.x, words.y, 24u)),
                 half2_middle(words.y), half2_low(epsilon_join(words.y, words.z, 24u)),
                 half2_middle(words.z), half2_low(epsilon_join(words.z, words.w, 24u)),
                 half2_middle(words.w), 0u);
}

/* Columns x - 4 to x + 11 of row `y`, or of the nearest. */
static uint4 epsilon_row(__global const uchar *source, uint x, int y, uint width, uint height) {
  return epsilon_columns16(source, (uint)clamp(y, 0, (int)height - 1) * width, x, width);
}

/* The eight pixels from column `x` of row `y`, or of the last row. */
static uint4 epsilon_centre(__global const uchar *source, uint x, uint y, uint width, uint height) {
  return epsilon_even(epsilon_row(source, x, (int)y, width, height)).s2345;
}

static float8 epsilon_reciprocal(float8 count) {
#ifdef __NV_CL_C_VERSION
  return native_recip(count); /* off by one unit in the last place; divisions take six operations */
#else
  return 1.0f / count;
#endif
}

/*
 * Stores the averages of eight pixels: the centre and, rounded, what the neighbours differ from it
 * on average. A quarter more in the sum sends halves upwards and is too little for anything else.
 * Added to 1.5 * 2^23, a number's nearest integer is in its lowest bits.
 */
static void epsilon_finish(__global uchar *destination, uint x, uint y, uint width, uint height,
                           uint4 centre, uint4 counts, uint4 sums, uint4 totals) {
  if (y >= height) return;

  const uint at = y * width + x;
  const float8 count = half8_to_float(counts);
  const float8 sum = half8_to_float(totals) * 32.0f + (half8_to_float(sums) + 0.25f);
  const float8 level = half8_to_float(centre) + (0x1.8p23f - 1024.0f);
  const uchar8 average = convert_uchar8(as_uint8(sum * epsilon_reciprocal(count) + level));

  epsilon_store(destination, at, average.lo, width - x);
  if (x + 4u < width) epsilon_store(destination, at + 4u, average.hi, width - x - 4u);
}

/* 8 x 4 pixels an item. Row r of the 12 is in the windows of the pixels of rows r - 8 to r. */
__kernel void epsilon_half_8x4(__global const uchar *restrict source,
                               __global uchar *restrict destination, uint width, uint height,
                               uint threshold) {
  const uint x = 8u * (uint)get_global_id(0);
  const uint y = 4u * (uint)get_global_id(1);

  if (x >= width || y >= height) return;

  const uint levels = min(threshold, 255u);
  const uint4 limit = half8_of(convert_float(levels + 1u));
  const uint4 thirty_second = half8_of(1.0f / 32.0f);
  const uint4 nearest = half8_of(1536.0f);
  const uint4 minus_nearest = half8_of(-1536.0f);
  const uint4 minus_32 = half8_of(-32.0f);
  const uint4 centre0 = epsilon_centre(source, x, y, width, height);
  const uint4 centre1 = epsilon_centre(source, x, y + 1u, width, height);
  const uint4 centre2 = epsilon_centre(source, x, y + 2u, width, height);
  const uint4 centre3 = epsilon_centre(source, x, y + 3u, width, height);
  uint4 count0 = (uint4)(0u), count1 = count0, count2 = count0, count3 = count0;
  uint4 sum0 = count0, sum1 = count0, sum2 = count0, sum3 = count0;
  uint4 total0 = count0, total1 = count0, total2 = count0, total3 = count0;
  int r;

  for (r = 0; r < 12; ++r) {
    const uint4 words = epsilon_row(source, x, (int)y + r - 4, width, height);
    const uint8 even = epsilon_even(words);
    const uint8 odd = epsilon_odd(words);
    if (r <= 8) EPSILON_ADD_ROW(centre0, count0, sum0, total0);
    if (r >= 1 && r <= 9) EPSILON_ADD_ROW(centre1, count1, sum1, total1);
    if (r >= 2 && r <= 10) EPSILON_ADD_ROW(centre2, count2, sum2, total2);
    if (r >= 3) EPSILON_ADD_ROW(centre3, count3, sum3, total3);
    if (levels > 25u) {
      EPSILON_FLUSH(total0, sum0);
      EPSILON_FLUSH(total1, sum1);
      EPSILON_FLUSH(total2, sum2);
      EPSILON_FLUSH(total3, sum3);
    }
  }
  epsilon_finish(destination, x, y, width, height, centre0, count0, sum0, total0);
  epsilon_finish(destination, x, y + 1u, width, height, centre1, count1, sum1, total1);
  epsilon_finish(destination, x, y + 2u, width, height, centre2, count2, sum2, total2);
  epsilon_finish(destination, x, y + 3u, width, height, centre3, count3, sum3, total3);
}
