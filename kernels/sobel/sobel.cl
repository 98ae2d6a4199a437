/*
 * Sobel gradients of an 8-bit image with one channel.
 *
 *   inner pixel:    gradient_x = min(|Gx|, 255), Gx = [1 2 1]^T x [-1 0 1] over the 3x3 window
 *                   gradient_y = min(|Gy|, 255), Gy = [-1 0 1]^T x [1 2 1]
 *   outermost ring: both are zero
 *
 * The three planes hold height rows of width bytes with no padding, width * height < 2^32, and do
 * not overlap. Any width and height from 1 up. Dimension 0 of the NDRange counts work-items along
 * x; items outside the image do nothing.
 *
 *   sobel_px1     1 pixel an item, from 3x3 byte loads (9 bytes a pixel)
 *   sobel_px16x1  16 pixels an item, from 18x3 bytes in six 16-byte loads (3.375 bytes a pixel)
 *   sobel_px16x2  16x2, from 18x4 bytes in eight loads (2.25 bytes a pixel)
 *   sobel_px16x4  16x4, from 18x6 bytes in twelve loads (1.6875 bytes a pixel)
 *
 * Dimension 1 counts rows, in the last two pairs and fours of them. sobel_image.cl, sobel_words.cl,
 * sobel_qcom.cl and sobel_waves.cl, which includes this file, have the other variants.
 *
 * Short arithmetic: |Gx| and |Gy| are at most 1020. The variants' names and shapes follow section
 * 10.4 of Qualcomm's "Snapdragon Mobile Platform OpenCL General Programming and Optimization"
 * (80-NB295-11 Rev. C); see README.md.
 *
 * Compile with the kernels folder on the include path.
 */
#include "common/store_last.clh"

static void sobel_pixel(__global const uchar *source, __global uchar *gradient_x,
                        __global uchar *gradient_y, uint x, uint y, uint width, uint height) {
  const uint offset = y * width + x;
  short3 smooth;     /* 1 2 1 down each of the three columns */
  short3 difference; /* -1 0 1 down each of the three columns */

  if (x == 0u || y == 0u || x + 1u == width || y + 1u == height) {
    gradient_x[offset] = 0;
    gradient_y[offset] = 0;
    return;
  }

  const short3 above = convert_short3(vload3(0, source + (offset - width - 1u)));
  const short3 here = convert_short3(vload3(0, source + (offset - 1u)));
  const short3 below = convert_short3(vload3(0, source + (offset + width - 1u)));
  smooth = above + here + here + below;
  difference = below - above;
  gradient_x[offset] = convert_uchar_sat(abs_diff(smooth.z, smooth.x));
  gradient_y[offset] =
      convert_uchar_sat(abs((short)(difference.x + 2 * difference.y + difference.z)));
}

/*
 * Sums along x around 16 pixels of a row: `difference` is [-1 0 1], `smooth` is [1 2 1]. The 18
 * bytes from `row` are the 16 with one neighbour on each side, moved inwards by one at the left and
 * the right edge of the image; the neighbour outside is made up there.
 */
static void sobel_sum_row(__global const uchar *row, bool at_left, bool at_right,
                          short16 *difference, short16 *smooth) {
  const short16 from0 = convert_short16(vload16(0, row));
  const short16 from2 = convert_short16(vload16(0, row + 2));
  const short16 from1 = (short16)(from0.s12345678, from2.s789abcde);
  short16 left = from0;
  short16 middle = from1;
  short16 right = from2;

  if (at_left) {
    left = from0.s00123456789abcde;
    middle = from0;
    right = from1;
  } else if (at_right) {
    left = from1;
    middle = from2;
    right = from2.s123456789abcdeff;
  }
  *difference = right - left;
  *smooth = left + middle + middle + right;
}

static uchar16 sobel_magnitude(short16 gradient, bool at_left, bool at_right) {
  uchar16 result = convert_uchar16_sat(abs(gradient));
  if (at_left) result.s0 = 0;
  if (at_right) result.sf = 0;
  return result;
}

/* Each row of `rows` + 2 is loaded and summed along x once. */
static void sobel_px16_rows(__global const uchar *source, __global uchar *gradient_x,
                            __global uchar *gradient_y, uint width, uint height, uint rows) {
  const uint own = 16u * (uint)get_global_id(0);
  const uint first = rows * (uint)get_global_id(1);
  const uint end = min(own + 16u, width);
  const uint last = min(first + rows, height);
  short16 difference0, difference1, difference2;
  short16 smooth0, smooth1, smooth2;
  uint y;

  if (own >= width || first >= height) return;

  if (width < 18u) { /* too narrow for the 18-byte loads */
    for (y = first; y < last; ++y) {
      for (uint x = own; x < end; ++x) {
        sobel_pixel(source, gradient_x, gradient_y, x, y, width, height);
      }
    }
    return;
  }

  /* A row's last item computes the row's last 16 pixels and stores those that are its own. */
  const bool at_left = end == 16u;
  const bool at_right = end == width;
  __global const uchar *column = source + (at_left ? 0u : at_right ? width - 18u : own - 1u);

  /* The rows above the first and below the last are made up, too: the ring does not use them. */
  sobel_sum_row(column + (max(first, 1u) - 1u) * width, at_left, at_right, &difference0, &smooth0);
  sobel_sum_row(column + first * width, at_left, at_right, &difference1, &smooth1);
  for (y = first; y < last; ++y) {
    const uint below = min(y + 1u, height - 1u);
    const bool on_ring = y == 0u || below == y;
    const uint at = y * width + end;
    short16 gx = (short16)(0);
    short16 gy = (short16)(0);

    sobel_sum_row(column + below * width, at_left, at_right, &difference2, &smooth2);
    if (!on_ring) {
      gx = difference0 + difference1 + difference1 + difference2;
      gy = smooth2 - smooth0;
    }
    store_last(sobel_magnitude(gx, at_left, at_right), end - own, gradient_x + at);
    store_last(sobel_magnitude(gy, at_left, at_right), end - own, gradient_y + at);
    difference0 = difference1;
    difference1 = difference2;
    smooth0 = smooth1;
    smooth1 = smooth2;
  }
}

__kernel void sobel_px1(__global const uchar *restrict source, __global uchar *restrict gradient_x,
                        __global uchar *restrict gradient_y, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x < width && y < height) sobel_pixel(source, gradient_x, gradient_y, x, y, width, height);
}

#define SOBEL_ROWS_KERNEL(qualifiers, name, rows)                                                  \
  qualifiers void name(__global const uchar *restrict source, __global uchar *restrict gradient_x, \
                       __global uchar *restrict gradient_y, uint width, uint height) {             \
    sobel_px16_rows(source, gradient_x, gradient_y, width, height, rows);                          \
  }

SOBEL_ROWS_KERNEL(__kernel, sobel_px16x1, 1u)
SOBEL_ROWS_KERNEL(__kernel, sobel_px16x2, 2u)
SOBEL_ROWS_KERNEL(__kernel, sobel_px16x4, 4u)
