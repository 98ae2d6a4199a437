/*
 * Laplace sharpening for a GPU whose memory keeps up with about eight integer operations a byte:
 * the same definition as in laplace.cl, on words of four bytes.
 *
 *   laplace_words       16 bytes by 4 rows an item
 *   laplace_words_tall  16 bytes by 16 rows an item: fewer rows are loaded twice, fewer items
 *
 * Dimension 0 of the NDRange counts 16 bytes of a row, of 3 * width; dimension 1 counts 4 or 16
 * rows. A pixel's neighbours in x are 3 bytes away, so channels need no telling apart: an even
 * lane's left neighbours are the odd lanes of the word before, an odd lane's right neighbours
 * the even lanes of the word after.
 *
 * Compile with the kernels folder on the include path.
 */
#include "common/words.clh"

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

static uint8 laplace_load(__global const uchar *source, uint x, uint y, uint step, uint stride,
                          uint height) {
  return load_whole(source, laplace_clamp(y, step, height) * stride, x, stride);
}

/* Four rows at a time, whose loads are all begun before the first is waited for. */
static void laplace_whole(__global const uchar *source, __global uchar *destination, uint x, uint y,
                          uint rows, uint stride, uint height) {
  const uint4 ring =
      (uint4)(x == 0u ? 0x00ffffffu : 0u, 0u, 0u, x + 16u == stride ? 0xffffff00u : 0u);
  const uint end = min(y + rows, height);
  uint16 row0 = laplace_lanes(laplace_load(source, x, y, 0u, stride, height));
  uint16 row1 = laplace_lanes(laplace_load(source, x, y, 1u, stride, height));

  for (; y < end; y += 4u) {
    __global uchar *to = destination + (y * stride + x);
    const uint8 words2 = laplace_load(source, x, y, 2u, stride, height);
    const uint8 words3 = laplace_load(source, x, y, 3u, stride, height);
    const uint8 words4 = laplace_load(source, x, y, 4u, stride, height);
    const uint8 words5 = laplace_load(source, x, y, 5u, stride, height);

    const uint16 row2 = laplace_lanes(words2);
    store_whole(laplace_row(row0, row1, row2, ring, y, height), to);
    if (y + 1u == height) return;
    const uint16 row3 = laplace_lanes(words3);
    store_whole(laplace_row(row1, row2, row3, ring, y + 1u, height), to + stride);
    if (y + 2u == height) return;
    row0 = laplace_lanes(words4);
    store_whole(laplace_row(row2, row3, row0, ring, y + 2u, height), to + 2u * stride);
    if (y + 3u == height) return;
    row1 = laplace_lanes(words5);
    store_whole(laplace_row(row3, row0, row1, ring, y + 3u, height), to + 3u * stride);
  }
}

/* Any alignment and any width. The bytes `from` to `until` - 1 are this item's own. */
static void laplace_any(__global const uchar *source, __global uchar *destination, uint from,
                        uint until, uint y, uint rows, uint stride, uint height) {
  /* A row's last item computes the row's last 16 bytes and stores those that are its own. */
  const uint x = stride < 16u ? 0u : min(from, stride - 16u);
  const uint end = min(y + rows, height);
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

static void laplace_words_rows(__global const uchar *source, __global uchar *destination,
                               uint width, uint height, uint rows) {
  const uint stride = 3u * width;
  const uint x = 16u * (uint)get_global_id(0);
  const uint y = rows * (uint)get_global_id(1);

  if (x >= stride || y >= height) return;

  if (((address_bits(source) | address_bits(destination) | stride) & 15u) == 0u) {
    laplace_whole(source, destination, x, y, rows, stride, height);
  } else {
    laplace_any(source, destination, x, min(x + 16u, stride), y, rows, stride, height);
  }
}

__kernel void laplace_words(__global const uchar *restrict source,
                            __global uchar *restrict destination, uint width, uint height) {
  laplace_words_rows(source, destination, width, height, 4u);
}

__kernel void laplace_words_tall(__global const uchar *restrict source,
                                 __global uchar *restrict destination, uint width, uint height) {
  laplace_words_rows(source, destination, width, height, 16u);
}
