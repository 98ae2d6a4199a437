/*
 * Epsilon filter of an 8-bit luma plane: smooths noise, keeps edges. Buffer variant of 16 pixels an
 * item.
 *
 *   out = average of the neighbours p of pixel c with |c - p| <= threshold, over the 9x9
 *         window around c (c itself included), coordinates clamped to the image; rounded to the
 *         nearest level, halves up
 *
 * Both planes hold height rows of width bytes with no padding, width * height < 2^32, and do not
 * overlap. threshold is in levels, 0 to 255. Any width and height from 1 up. Dimension 0 of the
 * NDRange counts work-items along x, dimension 1 rows; items outside the image do nothing.
 *
 *   epsilon_buffer  16 pixels an item in x, 16-byte loads, ushort arithmetic, no branch; exact
 *
 * The filter and the ladder of variants follow section 10.3 of Qualcomm's "Snapdragon Mobile
 * Platform OpenCL General Programming and Optimization" (80-NB295-11 Rev. C); README.md lists all
 * variants and has the published numbers.
 *
 * Compile with the kernels folder on the include path.
 */
#include "common/store_last.clh"
#include "epsilon/epsilon_buffer.clh"

/*
 * The 24 columns from x - 4 of the row that begins at `row`: the first 16 and the last 16. Where
 * they reach over an edge, the load is moved inwards and its lanes are moved back, with copies of
 * the edge's pixel behind them.
 */
static void epsilon_columns24(__global const uchar *row, uint x, uint width, ushort16 *p0,
                              ushort16 *p8) {
  const uint beyond = x + 20u - min(x + 20u, width); /* columns past the right edge, 0 to 4 */
  uchar16 bytes0;                                    /* x - 4 to x + 11 */
  uchar16 bytes8;                                    /* x + 4 to x + 19 */

  if (x == 0u)
    bytes0 = vload16(0, row).s00000123456789ab;
  else
    bytes0 = vload16(0, row + (x - 4u));
  bytes8 = vload16(0, row + (x + 4u - beyond));
  if (beyond != 0u) {
    /* select() looks at bit 7 alone: bits 2, 1 and 0 of `beyond` in turn. */
    bytes8 = select(bytes8, bytes8.s456789abcdefffff, (uchar16)((uchar)(beyond << 5)));
    bytes8 = select(bytes8, bytes8.s23456789abcdefff, (uchar16)((uchar)(beyond << 6)));
    bytes8 = select(bytes8, bytes8.s123456789abcdeff, (uchar16)((uchar)(beyond << 7)));
  }
  *p0 = convert_ushort16(bytes0);
  *p8 = convert_ushort16(bytes8);
}

/* Sixteen pixels from `x`, which is 0 or at least 4; the image is at least 20 wide. */
static uchar16 epsilon_sixteen(__global const uchar *source, uint x, uint y, uint width,
                               uint height, uint threshold) {
  const ushort16 span = (ushort16)((ushort)(2u * threshold));
  const ushort16 bias =
      (ushort16)((ushort)threshold) - convert_ushort16(vload16(0, source + (y * width + x)));
  ushort16 sum = (ushort16)(0);
  ushort16 count = (ushort16)(0);
  int dy;

  for (dy = -4; dy <= 4; ++dy) {
    const uint row = (uint)clamp((int)y + dy, 0, (int)height - 1) * width;
    ushort16 p0;
    ushort16 p8;
    epsilon_columns24(source + row, x, width, &p0, &p8);
    const ushort16 p4 = (ushort16)(p0.s456789ab, p8.s456789ab);
    EPSILON_ADD(ushort16, p0);
    EPSILON_ADD(ushort16, (ushort16)(p0.s12345678, p4.s56789abc));
    EPSILON_ADD(ushort16, (ushort16)(p0.s23456789, p4.s6789abcd));
    EPSILON_ADD(ushort16, (ushort16)(p0.s3456789a, p4.s789abcde));
    EPSILON_ADD(ushort16, p4);
    EPSILON_ADD(ushort16, (ushort16)(p0.s56789abc, p8.s56789abc));
    EPSILON_ADD(ushort16, (ushort16)(p0.s6789abcd, p8.s6789abcd));
    EPSILON_ADD(ushort16, (ushort16)(p0.s789abcde, p8.s789abcde));
    EPSILON_ADD(ushort16, p8);
  }
  return convert_uchar16((convert_float16(sum + (count >> (ushort16)(1))) + 0.5f) /
                         convert_float16(count));
}

__kernel void epsilon_buffer(__global const uchar *restrict source,
                             __global uchar *restrict destination, uint width, uint height,
                             uint threshold) {
  const uint own = 16u * (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  uint x;
  uint end;

  if (own >= width || y >= height) return;

  threshold = min(threshold, 255u);
  end = min(own + 16u, width);
  if (width < 20u) { /* too narrow for loads of 16 bytes that start 4 from an edge */
    for (x = own; x < end; ++x)
      destination[y * width + x] = epsilon_pixel(source, x, y, width, height, threshold);
    return;
  }

  /* A row's last item computes the row's last 16 pixels and stores those that are its own. */
  x = end - 16u;
  store_last(epsilon_sixteen(source, x, y, width, height, threshold), end - own,
             destination + (y * width + end));
}
