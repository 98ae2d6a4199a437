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
 * sobel_qcom.cl and sobel_waves.cl have the other variants.
 *
 * Short arithmetic: |Gx| and |Gy| are at most 1020. The variants' names and shapes follow section
 * 10.4 of Qualcomm's "Snapdragon Mobile Platform OpenCL General Programming and Optimization"
 * (80-NB295-11 Rev. C); see README.md.
 *
 * Compile with the kernels folder on the include path.
 */
#include "common/store_last.clh"
#include "sobel/sobel_rows.clh"

__kernel void sobel_px1(__global const uchar *restrict source, __global uchar *restrict gradient_x,
                        __global uchar *restrict gradient_y, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x < width && y < height) sobel_pixel(source, gradient_x, gradient_y, x, y, width, height);
}

__kernel void sobel_px16x1(__global const uchar *restrict source,
                           __global uchar *restrict gradient_x, __global uchar *restrict gradient_y,
                           uint width, uint height) {
  const uint own = 16u * (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  uint x;
  uint end;
  short16 gx = (short16)(0);
  short16 gy = (short16)(0);

  if (own >= width || y >= height) return;

  end = min(own + 16u, width);
  if (width < 18u) { /* too narrow for the 18-byte loads */
    for (x = own; x < end; ++x) sobel_pixel(source, gradient_x, gradient_y, x, y, width, height);
    return;
  }

  /* A row's last item computes the row's last 16 pixels and stores those that are its own. */
  x = end - 16u;

  if (y != 0u && y + 1u != height) {
    /*
     * 18 bytes of each row: the 16 with one neighbour on each side, moved inwards by one at
     * the left and the right edge of the image. Sums down the columns do not care about that
     * move, so it is undone only once, when columns meet.
     */
    const bool at_left = x == 0u;
    const bool at_right = x + 16u == width;
    const uint first = y * width + (at_left ? 0u : at_right ? width - 18u : x - 1u);
    __global const uchar *above = source + (first - width);
    __global const uchar *here = source + first;
    __global const uchar *below = source + (first + width);

    const short16 above0 = convert_short16(vload16(0, above));
    const short16 above2 = convert_short16(vload16(0, above + 2));
    const short16 here0 = convert_short16(vload16(0, here));
    const short16 here2 = convert_short16(vload16(0, here + 2));
    const short16 below0 = convert_short16(vload16(0, below));
    const short16 below2 = convert_short16(vload16(0, below + 2));

    /* The vertical 1 2 1 and -1 0 1 of columns 0 to 15, 1 to 16 and 2 to 17 of the 18. */
    const short16 smooth0 = above0 + here0 + here0 + below0;
    const short16 smooth2 = above2 + here2 + here2 + below2;
    const short16 smooth1 = (short16)(smooth0.s12345678, smooth2.s789abcde);
    const short16 difference0 = below0 - above0;
    const short16 difference2 = below2 - above2;
    const short16 difference1 = (short16)(difference0.s12345678, difference2.s789abcde);

    if (at_left) { /* lane 0 is on the ring; its left neighbour is made up */
      gx = smooth1 - smooth0.s00123456789abcde;
      gy = difference0.s00123456789abcde + difference0 + difference0 + difference1;
      gx.s0 = 0;
      gy.s0 = 0;
    } else if (at_right) { /* lane 15 is on the ring; its right neighbour is made up */
      gx = smooth2.s123456789abcdeff - smooth1;
      gy = difference1 + difference2 + difference2 + difference2.s123456789abcdeff;
      gx.sf = 0;
      gy.sf = 0;
    } else {
      gx = smooth2 - smooth0;
      gy = difference0 + difference1 + difference1 + difference2;
    }
  }

  store_last(convert_uchar16_sat(abs(gx)), end - own, gradient_x + (y * width + end));
  store_last(convert_uchar16_sat(abs(gy)), end - own, gradient_y + (y * width + end));
}

__kernel void sobel_px16x2(__global const uchar *restrict source,
                           __global uchar *restrict gradient_x, __global uchar *restrict gradient_y,
                           uint width, uint height) {
  sobel_px16_rows(source, gradient_x, gradient_y, width, height, 2u);
}

__kernel void sobel_px16x4(__global const uchar *restrict source,
                           __global uchar *restrict gradient_x, __global uchar *restrict gradient_y,
                           uint width, uint height) {
  sobel_px16_rows(source, gradient_x, gradient_y, width, height, 4u);
}
