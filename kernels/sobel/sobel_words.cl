/*
 * Sobel gradients for a GPU at the speed of its memory: the same definition as in sobel.cl, on
 * words of four bytes.
 *
 *   sobel_words  16 pixels by SOBEL_ROWS rows an item; exact
 *
 * Dimension 0 of the NDRange counts 16 pixels, dimension 1 counts SOBEL_ROWS rows. A row is split
 * into lanes and summed along x only once, for the three rows of results that it is part of.
 *
 * Compile with the kernels folder on the include path.
 */
#include "common/words.clh"

#define SOBEL_ROWS 4 /* more: fewer are loaded twice, and there are fewer items */

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

/* |Gx| and |Gy| from the sums of three rows. */
static uint8 sobel_gradients(uint16 above, uint16 here, uint16 below) {
  return (uint8)(sobel_magnitude(above.lo + 2u * here.lo + below.lo),
                 sobel_magnitude(below.hi + 0x7f007f00u - above.hi));
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
  if (y == 0u || y + 1u == height) return (uint8)(0u);
  return sobel_gradients(above, here, below) & (uint8)(inside, inside);
}

/* Row y - 1 + `step` of the image; outside it, whose rows are not used, the nearest. */
static uint sobel_clamp(uint y, uint step, uint height) {
  return min(max(y + step, 1u) - 1u, height - 1u);
}

/* All rows are asked for before the first is waited for. */
static void sobel_whole(__global const uchar *source, __global uchar *gradient_x,
                        __global uchar *gradient_y, uint x, uint y, uint width, uint height) {
  const uint4 inside =
      (uint4)(x == 0u ? 0xffffff00u : ~0u, ~0u, ~0u, x + 16u == width ? 0x00ffffffu : ~0u);
  uint8 words[SOBEL_ROWS + 2];
  uint i;

  WORDS_UNROLL
  for (i = 0u; i < SOBEL_ROWS + 2; ++i)
    words[i] = load_whole(source, sobel_clamp(y, i, height) * width, x, width);

  uint16 above = sobel_sums(words[0]);
  uint16 here = sobel_sums(words[1]);
  WORDS_UNROLL
  for (i = 0u; i < SOBEL_ROWS; ++i) {
    const uint16 below = sobel_sums(words[i + 2u]);
    const uint row = y + i;
    if (row < height) {
      const uint8 result = sobel_row(above, here, below, inside, row, height);
      store_whole(result.lo, gradient_x + (row * width + x));
      store_whole(result.hi, gradient_y + (row * width + x));
    }
    above = here;
    here = below;
  }
}

/* Any alignment and any width. The pixels `from` to `until` - 1 are this item's own. */
static void sobel_any(__global const uchar *source, __global uchar *gradient_x,
                      __global uchar *gradient_y, uint from, uint until, uint y, uint width,
                      uint height) {
  /* A row's last item computes the row's last 16 pixels and stores those that are its own. */
  const uint x = width < 16u ? 0u : min(from, width - 16u);
  const uint end = min(y + SOBEL_ROWS, height);
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

__kernel void sobel_words(__global const uchar *restrict source,
                          __global uchar *restrict gradient_x, __global uchar *restrict gradient_y,
                          uint width, uint height) {
  const uint x = 16u * (uint)get_global_id(0);
  const uint y = SOBEL_ROWS * (uint)get_global_id(1);
  const uint outputs = address_bits(gradient_x) | address_bits(gradient_y);

  if (x >= width || y >= height) return;

  if (((address_bits(source) | outputs | width) & 15u) == 0u) {
    sobel_whole(source, gradient_x, gradient_y, x, y, width, height);
  } else {
    sobel_any(source, gradient_x, gradient_y, x, min(x + 16u, width), y, width, height);
  }
}
