/*
 * Laplace sharpening for a GPU whose memory keeps up with about eight integer operations a byte:
 * the same definition as in laplace.cl, on words of four bytes.
 *
 *   laplace_words  16 bytes by LAPLACE_ROWS rows an item
 *
 * Dimension 0 of the NDRange counts 16 bytes of a row, of 3 * width; dimension 1 counts
 * LAPLACE_ROWS rows. A pixel's neighbours in x are 3 bytes away, so channels need no telling apart:
 * an even lane's left neighbours are the odd lanes of the word before, an odd lane's right
 * neighbours the even lanes of the word after.
 *
 * Compile with the kernels folder on the include path.
 */
#include "common/words.clh"

#define LAPLACE_ROWS 4 /* more: fewer are loaded twice, and there are fewer items */

/* The even lanes of six words in s0 to s5, the odd ones in s8 to sd. */
static uint16 laplace_lanes(uint8 words) { return (uint16)(even_lanes(words), odd_lanes(words)); }

/* The 16 bytes in the middle of a row's lanes. */
static uint4 laplace_centre(uint16 here) { return low_bytes(here.s1234, here.s9abc); }

static uint4 laplace_sharpen(uint16 above, uint16 here, uint16 below) {
  /* At most 765 a lane; 0x7f00 keeps the lanes of 10 c - (sum of nine) from borrowing. */
  const uint16 column = above + here + below;
  const uint4 even = here.s1234 * 10u + 0x7f007f00u - column.s89ab - column.s1234 -
                     join_lanes(column.s9abc, column.sabcd);
  const uint4 odd = here.s9abc * 10u + 0x7f007f00u - column.s2345 - column.s9abc -
                    join_lanes(column.s0123, column.s1234);

  /* Bit 15 of a lane: of value + 0x7f00, that it is above 255; of value + 0x8000, that it is >= 0.
   */
  const uint4 above_255 = high_bits(even, odd);
  const uint4 not_negative = high_bits(even + 0x01000100u, odd + 0x01000100u);
  return (low_bytes(even, odd) | above_255) & not_negative;
}

/* All bits of the bytes that belong to the ring's left and right pixels. `x` counts bytes. */
static uint4 laplace_ring(uint x, uint stride) {
  const char16 place = (char16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const char first = x < 3u ? (char)(3u - x) : 0;
  const char last = stride - x < 19u ? (char)(stride - x - 3u) : 16;
  return as_uint4((place < (char16)(first)) | (place >= (char16)(last)));
}

/* A row's result; the bytes of `ring` are copied, and so are all of the first and the last row. */
static uint4 laplace_row(uint16 above, uint16 here, uint16 below, uint4 ring, uint y, uint height) {
  const uint4 centre = laplace_centre(here);
  if (y == 0u || y + 1u == height) return centre;
  return bitselect(laplace_sharpen(above, here, below), centre, ring);
}

/* Row y - 1 + `step` of the image; outside it, whose rows are not used, the nearest. */
static uint laplace_clamp(uint y, uint step, uint height) {
  return min(max(y + step, 1u) - 1u, height - 1u);
}

/* All rows are asked for before the first is waited for. */
static void laplace_whole(__global const uchar *source, __global uchar *destination, uint x, uint y,
                          uint stride, uint height) {
  const uint4 ring =
      (uint4)(x == 0u ? 0x00ffffffu : 0u, 0u, 0u, x + 16u == stride ? 0xffffff00u : 0u);
  uint8 words[LAPLACE_ROWS + 2];
  uint i;

  WORDS_UNROLL
  for (i = 0u; i < LAPLACE_ROWS + 2; ++i)
    words[i] = load_whole(source, laplace_clamp(y, i, height) * stride, x, stride);

  uint16 above = laplace_lanes(words[0]);
  uint16 here = laplace_lanes(words[1]);
  WORDS_UNROLL
  for (i = 0u; i < LAPLACE_ROWS; ++i) {
    const uint16 below = laplace_lanes(words[i + 2u]);
    const uint row = y + i;
    if (row < height)
      store_whole(laplace_row(above, here, below, ring, row, height),
                  destination + (row * stride + x));
    above = here;
    here = below;
  }
}

/* Any alignment and any width. The bytes `from` to `until` - 1 are this item's own. */
static void laplace_any(__global const uchar *source, __global uchar *destination, uint from,
                        uint until, uint y, uint stride, uint height) {
  /* A row's last item computes the row's last 16 bytes and stores those that are its own. */
  const uint x = stride < 16u ? 0u : min(from, stride - 16u);
  const uint end = min(y + LAPLACE_ROWS, height);
  const uint first = max(y, 1u) - 1u;
  const uint4 ring = laplace_ring(x, stride);
  uint16 above = (uint16)(0u);
  uint16 here = (uint16)(0u);
  uint row;

  for (row = first; row <= end; ++row) {
    const uint16 below =
        laplace_lanes(load_any(source, min(row, height - 1u) * stride + x, stride * height));
    if (row > y) {
      const uint4 result = laplace_row(above, here, below, ring, row - 1u, height);
      store_any(result, from - x, until - x, destination + ((row - 1u) * stride + x));
    }
    above = here;
    here = below;
  }
}

__kernel void laplace_words(__global const uchar *restrict source,
                            __global uchar *restrict destination, uint width, uint height) {
  const uint stride = 3u * width;
  const uint x = 16u * (uint)get_global_id(0);
  const uint y = LAPLACE_ROWS * (uint)get_global_id(1);

  if (x >= stride || y >= height) return;

  if (((address_bits(source) | address_bits(destination) | stride) & 15u) == 0u) {
    laplace_whole(source, destination, x, y, stride, height);
  } else {
    laplace_any(source, destination, x, min(x + 16u, stride), y, stride, height);
  }
}
