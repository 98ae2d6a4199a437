/*
 * Laplace sharpening of an 8-bit image with three interleaved channels.
 *
 *   inner pixel:    out = clamp(9 c - (sum of the 8 neighbours), 0, 255), per channel
 *   outermost ring: out = source
 *
 * Both buffers hold height rows of 3 * width bytes with no padding, 3 * width * height < 2^32,
 * and do not overlap. Any width and height from 1 up. Dimension 0 of the NDRange counts work-items
 * along x, dimension 1 rows; items outside the image do nothing.
 *
 *   laplace_scalar      1 pixel an item, int, byte loads; LAPLACE_MUL24 as below
 *   laplace_vector      LAPLACE_PIXELS (5 or 4) pixels an item, in short16 or with LAPLACE_INT in
 *                       int16; LAPLACE_LOADS (2 or 3) 16-byte loads a row: of 2 the middle is made
 *   laplace_vec8_short  8 pixels (24 bytes), short16 and short8, two loads a row
 *
 * With LAPLACE_MUL24 defined, offsets are made by 24-bit multiplications where width and height
 * are below 2^24. laplace_words.cl has the variant for a big GPU.
 *
 * The definition, the variants' names and their shapes follow the case study of Arm's talk "GPU
 * Compute on Mobile Devices"; README.md has the published numbers.
 *
 * With T the sum of all nine pixels of the 3x3 window, 9 c - (T - c) = 10 c - T. |10 c - T| is
 * at most 2550, so that short is wide enough.
 */

/* One byte of the result. `offset` is the byte's place in the image; x and y name its pixel. */
static uchar laplace_byte(__global const uchar *source, uint offset, uint x, uint y, uint width,
                          uint height) {
  const uint stride = 3u * width;
  const int centre = source[offset];
  int total;

  if (x == 0u || y == 0u || x + 1u == width || y + 1u == height) return (uchar)centre;

  __global const uchar *above = source + (offset - stride);
  __global const uchar *here = source + offset;
  __global const uchar *below = source + (offset + stride);
  total = above[-3] + above[0] + above[3];
  total += here[-3] + centre + here[3];
  total += below[-3] + below[0] + below[3];
  return convert_uchar_sat(10 * centre - total);
}

/* `pixel` is y * width + x. */
static void laplace_pixel(__global const uchar *source, __global uchar *destination, uint pixel,
                          uint x, uint y, uint width, uint height) {
  const uint offset = 3u * pixel;

  destination[offset] = laplace_byte(source, offset, x, y, width, height);
  destination[offset + 1u] = laplace_byte(source, offset + 1u, x, y, width, height);
  destination[offset + 2u] = laplace_byte(source, offset + 2u, x, y, width, height);
}

/* For Mali's compiler: the items of a work-group run along dimension 1 first. */
#ifdef LAPLACE_INTERCHANGE
#define LAPLACE_ORDER __attribute__((annotate("interchange")))
#else
#define LAPLACE_ORDER
#endif

__kernel LAPLACE_ORDER void laplace_scalar(__global const uchar *restrict source,
                                           __global uchar *restrict destination, uint width,
                                           uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x >= width || y >= height) return;
#ifdef LAPLACE_MUL24
  if ((width | height) >> 24 == 0u) {
    laplace_pixel(source, destination, mad24(y, width, x), x, y, width, height);
    return;
  }
#endif
  laplace_pixel(source, destination, y * width + x, x, y, width, height);
}

/* The pixels `x` to `end` - 1 of row y, one after the other. */
static void laplace_pixels(__global const uchar *source, __global uchar *destination, uint x,
                           uint end, uint y, uint width, uint height) {
  for (; x < end; ++x) laplace_pixel(source, destination, y * width + x, x, y, width, height);
}

/*
 * Whether byte -3 of the row above and byte `after` - 1 of the row below, counted from the byte
 * `offset`, are in the image. Loads of an item at the left or the right edge may go into
 * neighbouring rows, since its edge pixels are copied.
 */
static bool laplace_loads_inside(uint offset, uint after, uint stride, uint size) {
  return offset >= stride + 3u && size - offset >= stride + after;
}

#ifndef LAPLACE_PIXELS
#define LAPLACE_PIXELS 5
#endif
#ifndef LAPLACE_LOADS
#define LAPLACE_LOADS 2
#endif
#ifdef LAPLACE_INT
typedef int16 lanes16;
#define convert_lanes16 convert_int16
#else
typedef short16 lanes16;
#define convert_lanes16 convert_short16
#endif

/* The 15 bytes from 3 on where `left` begins, from the 16 there and the 16 that begin 6 further on.
 */
static lanes16 laplace_middle(lanes16 left, lanes16 right) {
  return (lanes16)(left.s3456789a, left.sbcde, left.sf, right.sabc);
}

/* Bytes 0 to 14 are the pixels from `here`, as if none was on the ring; 15 is not used. */
static uchar16 laplace_sixteen(__global const uchar *here, uint stride) {
  const lanes16 here_left = convert_lanes16(vload16(0, here - 3));
  const lanes16 here_right = convert_lanes16(vload16(0, here + 3));
  const lanes16 left = convert_lanes16(vload16(0, here - stride - 3)) + here_left +
                       convert_lanes16(vload16(0, here + stride - 3));
  const lanes16 right = convert_lanes16(vload16(0, here - stride + 3)) + here_right +
                        convert_lanes16(vload16(0, here + stride + 3));
#if LAPLACE_LOADS == 3
  const lanes16 centre = convert_lanes16(vload16(0, here));
  const lanes16 middle = convert_lanes16(vload16(0, here - stride)) + centre +
                         convert_lanes16(vload16(0, here + stride));
#else
  const lanes16 centre = laplace_middle(here_left, here_right);
  const lanes16 middle = laplace_middle(left, right);
#endif
  return convert_uchar16_sat(centre * (lanes16)(10) - (left + middle + right));
}

__kernel void laplace_vector(__global const uchar *restrict source,
                             __global uchar *restrict destination, uint width, uint height) {
  const uint stride = 3u * width;
  const uint own = LAPLACE_PIXELS * (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (own >= width || y >= height) return;

  /* A row's last item computes the row's last pixels and stores those that are its own. */
  const uint end = min(own + LAPLACE_PIXELS, width);
  const uint offset = y * stride + 3u * (max(end, (uint)LAPLACE_PIXELS) - LAPLACE_PIXELS);
  __global const uchar *here = source + offset;
  if (width < LAPLACE_PIXELS || !laplace_loads_inside(offset, 19u, stride, stride * height)) {
    laplace_pixels(source, destination, own, end, y, width, height);
    return;
  }

  uchar16 result = laplace_sixteen(here, stride);
  if (end == LAPLACE_PIXELS) result.s012 = vload3(0, here);
#if LAPLACE_PIXELS == 5
  if (end == width) result.scde = vload3(0, here + 12);
#else
  if (end == width) result.s9ab = vload3(0, here + 9);
#endif
  destination += offset;
  if (end - own == LAPLACE_PIXELS) {
    vstore8(result.s01234567, 0, destination);
    vstore4(result.s89ab, 0, destination + 8);
#if LAPLACE_PIXELS == 5
    vstore3(result.scde, 0, destination + 12);
#endif
    return;
  }
#if LAPLACE_PIXELS == 5
  if (end - own == 4u) vstore3(result.s345, 0, destination + 3);
  if (end - own >= 3u) vstore3(result.s678, 0, destination + 6);
  if (end - own >= 2u) vstore3(result.s9ab, 0, destination + 9);
  vstore3(result.scde, 0, destination + 12);
#else
  if (end - own == 3u) vstore3(result.s345, 0, destination + 3);
  if (end - own >= 2u) vstore3(result.s678, 0, destination + 6);
  vstore3(result.s9ab, 0, destination + 9);
#endif
}

/*
 * The eight pixels from `here`, as if none was on the ring, to `destination`. The loads of a row
 * are of bytes -3 to 12 and 11 to 26; 24 results need 30.
 */
static void laplace_eight(__global const uchar *here, __global uchar *destination, uint stride) {
  const short16 here_low = convert_short16(vload16(0, here - 3));
  const short16 here_high = convert_short16(vload16(0, here + 11));
  const short16 low = convert_short16(vload16(0, here - stride - 3)) + here_low +
                      convert_short16(vload16(0, here + stride - 3));
  const short16 high = convert_short16(vload16(0, here - stride + 11)) + here_high +
                       convert_short16(vload16(0, here + stride + 11));

  /* Column sums of the first 16 bytes and of their neighbours, then of the last 8. */
  const short16 total16 = low + (short16)(low.s3456789a, low.sbcde, low.sf, high.s234) +
                          (short16)(low.s6789abcd, low.sef, high.s2345, high.s67);
  const short8 total8 = high.s23456789 + high.s56789abc + high.s89abcdef;
  const short16 centre16 =
      (short16)(here_low.s3456789a, here_low.sbcde, here_low.sf, here_high.s234);

  vstore16(convert_uchar16_sat(centre16 * (short16)(10) - total16), 0, destination);
  vstore8(convert_uchar8_sat(here_high.s56789abc * (short8)(10) - total8), 0, destination + 16);
}

__kernel void laplace_vec8_short(__global const uchar *restrict source,
                                 __global uchar *restrict destination, uint width, uint height) {
  const uint stride = 3u * width;
  const uint x = 8u * (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  const uint end = min(x + 8u, width);
  const uint offset = y * stride + 3u * x;

  if (x >= width || y >= height) return;

  if (end - x < 8u || !laplace_loads_inside(offset, 27u, stride, stride * height)) {
    laplace_pixels(source, destination, x, end, y, width, height);
    return;
  }
  laplace_eight(source + offset, destination + offset, stride);
  if (x == 0u) vstore3(vload3(0, source + offset), 0, destination + offset);
  if (end == width) vstore3(vload3(0, source + offset + 21u), 0, destination + offset + 21u);
}
