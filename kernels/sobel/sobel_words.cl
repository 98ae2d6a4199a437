/*
 * Sobel gradients for a GPU at the speed of its memory: the same definition as in sobel.cl, on
 * words of four bytes.
 *
 *   sobel_words       16 pixels by 4 rows an item
 *   sobel_words_tall  16 pixels by 16 rows an item: fewer rows are loaded twice, fewer items
 *
 * Dimension 0 of the NDRange counts 16 pixels, dimension 1 counts 4 or 16 rows. A row is split into
 * lanes and summed along x only once, for the three rows of results that it is part of.
 *
 * Compile with the kernels folder on the include path.
 */
#include "common/words.clh"

/* Four of these make the 0x7f00 that high_bits() is asked about. */
#define QUARTER_BIAS 0x1fc01fc0u

/*
 * Sums along x of a row's 16 pixels, even lanes in the low half and odd lanes in the high half of
 * each: [-1 0 1] + 0x1fc0 in s01234567, [1 2 1] in s89abcdef.
 */
static uint16 sobel_sums(uint8 words) {
  const uint8 even = even_lanes(words);
  const uint8 odd = odd_lanes(words);
  const uint4 before_even = join_lanes(odd.s0123, odd.s1234);
  const uint4 after_odd = join_lanes(even.s1234, even.s2345);
  return (uint16)(odd.s1234 + QUARTER_BIAS - before_even, after_odd + QUARTER_BIAS - even.s1234,
                  before_even + 2u * even.s1234 + odd.s1234,
                  even.s1234 + 2u * odd.s1234 + after_odd);
}

/* min(|gradient|, 255) as bytes, of gradient + 0x7f00 in even and odd lanes. */
static uint4 sobel_magnitude(uint8 biased) {
  const uint8 negated = 0xfe00fe00u - biased;
  const uint8 signs = biased + 0x01000100u;
  const uint8 either = biased | negated;
  const uint4 above_255 = high_bits(either.lo, either.hi);
  const uint4 not_negative = high_bits(signs.lo, signs.hi);
  return bitselect(low_bytes(negated.lo, negated.hi), low_bytes(biased.lo, biased.hi),
                   not_negative) |
         above_255;
}

/* All bits of the bytes that are not in the ring's left and right columns. */
static uint4 sobel_inside(uint x, uint width) {
  const char16 place = (char16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const char first = x == 0u ? 1 : 0;
  const char last = width - x < 17u ? (char)(width - x - 1u) : 16;
  return as_uint4((place >= (char16)(first)) & (place < (char16)(last)));
}

/*
 * |Gx| and |Gy| of a row, from the sums of three; 0 but in the bytes of `inside`, and in all of the
 * first and the last row.
 */
static uint8 sobel_row(uint16 above, uint16 here, uint16 below, uint4 inside, uint y, uint height) {
  const uint8 gx = above.lo + 2u * here.lo + below.lo;
  const uint8 gy = below.hi + 0x7f007f00u - above.hi;
  if (y == 0u || y + 1u == height) return (uint8)(0u);
  return (uint8)(sobel_magnitude(gx) & inside, sobel_magnitude(gy) & inside);
}

/* Row y - 1 + `step` of the image; outside it, whose rows are not used, the nearest. */
static uint8 sobel_load(__global const uchar *source, uint x, uint y, uint step, uint width,
                        uint height) {
  const uint row = min(max(y + step, 1u) - 1u, height - 1u);
  return load_whole(source, row * width, x, width);
}

static void sobel_store(uint8 value, __global uchar *gradient_x, __global uchar *gradient_y,
                        uint at) {
  store_whole(value.lo, gradient_x + at);
  store_whole(value.hi, gradient_y + at);
}

/* Four rows at a time, whose loads are all begun before the first is waited for. */
static void sobel_whole(__global const uchar *source, __global uchar *gradient_x,
                        __global uchar *gradient_y, uint x, uint y, uint rows, uint width,
                        uint height) {
  const uint4 inside =
      (uint4)(x == 0u ? 0xffffff00u : ~0u, ~0u, ~0u, x + 16u == width ? 0x00ffffffu : ~0u);
  const uint end = min(y + rows, height);
  uint16 row0 = sobel_sums(sobel_load(source, x, y, 0u, width, height));
  uint16 row1 = sobel_sums(sobel_load(source, x, y, 1u, width, height));

  for (; y < end; y += 4u) {
    const uint at = y * width + x;
    const uint8 words2 = sobel_load(source, x, y, 2u, width, height);
    const uint8 words3 = sobel_load(source, x, y, 3u, width, height);
    const uint8 words4 = sobel_load(source, x, y, 4u, width, height);
    const uint8 words5 = sobel_load(source, x, y, 5u, width, height);

    const uint16 row2 = sobel_sums(words2);
    sobel_store(sobel_row(row0, row1, row2, inside, y, height), gradient_x, gradient_y, at);
    if (y + 1u == height) return;
    const uint16 row3 = sobel_sums(words3);
    sobel_store(sobel_row(row1, row2, row3, inside, y + 1u, height), gradient_x, gradient_y,
                at + width);
    if (y + 2u == height) return;
    row0 = sobel_sums(words4);
    sobel_store(sobel_row(row2, row3, row0, inside, y + 2u, height), gradient_x, gradient_y,
                at + 2u * width);
    if (y + 3u == height) return;
    row1 = sobel_sums(words5);
    sobel_store(sobel_row(row3, row0, row1, inside, y + 3u, height), gradient_x, gradient_y,
                at + 3u * width);
  }
}

/* Any alignment and any width. The pixels `from` to `until` - 1 are this item's own. */
static void sobel_any(__global const uchar *source, __global uchar *gradient_x,
                      __global uchar *gradient_y, uint from, uint until, uint y, uint rows,
                      uint width, uint height) {
  /* A row's last item computes the row's last 16 pixels and stores those that are its own. */
  const uint x = width < 16u ? 0u : min(from, width - 16u);
  const uint end = min(y + rows, height);
  const uint first = max(y, 1u) - 1u;
  const uint4 inside = sobel_inside(x, width);
  uint16 above = (uint16)(0u);
  uint16 here = (uint16)(0u);
  uint row;

  for (row = first; row <= end; ++row) {
    const uint16 below =
        sobel_sums(load_any(source, min(row, height - 1u) * width + x, width * height));
    if (row > y) {
      const uint8 result = sobel_row(above, here, below, inside, row - 1u, height);
      const uint at = (row - 1u) * width + x;
      store_any(result.lo, from - x, until - x, gradient_x + at);
      store_any(result.hi, from - x, until - x, gradient_y + at);
    }
    above = here;
    here = below;
  }
}

static void sobel_words_rows(__global const uchar *source, __global uchar *gradient_x,
                             __global uchar *gradient_y, uint width, uint height, uint rows) {
  const uint x = 16u * (uint)get_global_id(0);
  const uint y = rows * (uint)get_global_id(1);
  const uint outputs = address_bits(gradient_x) | address_bits(gradient_y);

  if (x >= width || y >= height) return;

  if (((address_bits(source) | outputs | width) & 15u) == 0u) {
    sobel_whole(source, gradient_x, gradient_y, x, y, rows, width, height);
  } else {
    sobel_any(source, gradient_x, gradient_y, x, min(x + 16u, width), y, rows, width, height);
  }
}

__kernel void sobel_words(__global const uchar *restrict source,
                          __global uchar *restrict gradient_x, __global uchar *restrict gradient_y,
                          uint width, uint height) {
  sobel_words_rows(source, gradient_x, gradient_y, width, height, 4u);
}

__kernel void sobel_words_tall(__global const uchar *restrict source,
                               __global uchar *restrict gradient_x,
                               __global uchar *restrict gradient_y, uint width, uint height) {
  sobel_words_rows(source, gradient_x, gradient_y, width, height, 16u);
}
