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
 *   laplace_scalar           1 pixel an item, int, byte loads; LAPLACE_MUL24 as below
 *   laplace_vec5_int         5 pixels (15 bytes) an item, int16, three 16-byte loads a row
 *   laplace_vec5_int_shared  the same from two loads a row, the middle made from both
 *   laplace_vec5_short       short16, two loads a row
 *   laplace_vec4_short       4 pixels (12 bytes), short16, two loads a row
 *   laplace_vec8_short       8 pixels (24 bytes), short16 and short8, two loads a row
 *
 * With LAPLACE_MUL24 defined, offsets are made by 24-bit multiplications where width and height
 * are below 2^24. laplace_words.cl has the variants for a big GPU.
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
static void laplace_pixel_at(__global const uchar *source, __global uchar *destination, uint pixel,
                             uint x, uint y, uint width, uint height) {
  const uint offset = 3u * pixel;

  destination[offset] = laplace_byte(source, offset, x, y, width, height);
  destination[offset + 1u] = laplace_byte(source, offset + 1u, x, y, width, height);
  destination[offset + 2u] = laplace_byte(source, offset + 2u, x, y, width, height);
}

static void laplace_pixel(__global const uchar *source, __global uchar *destination, uint x, uint y,
                          uint width, uint height) {
  laplace_pixel_at(source, destination, y * width + x, x, y, width, height);
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
    laplace_pixel_at(source, destination, mad24(y, width, x), x, y, width, height);
    return;
  }
#endif
  laplace_pixel(source, destination, x, y, width, height);
}

/*
 * Four pixels from `x`, of which the last `count` are this item's own. `first` is the byte the
 * loads start at: six pixels (18 bytes) a row, the four with one neighbour on each side, moved
 * inwards by one pixel at the left and the right edge of the image. Sums down the columns do not
 * care about that move, so it is undone only once, when the columns are added up.
 */
static uchar16 laplace_four(__global const uchar *source, uint x, uint y, uint width) {
  const uint stride = 3u * width;
  const uint row = y * stride;
  const bool at_left = x == 0u;
  const bool at_right = x + 4u == width;
  const uint first = row + (at_left ? 0u : at_right ? stride - 18u : 3u * x - 3u);
  __global const uchar *above = source + (first - stride);
  __global const uchar *here = source + first;
  __global const uchar *below = source + (first + stride);

  const short16 here_low = convert_short16(vload16(0, here));
  const short16 here_high = convert_short16(vload16(0, here + 2));
  const short16 low =
      convert_short16(vload16(0, above)) + here_low + convert_short16(vload16(0, below));
  const short16 high =
      convert_short16(vload16(0, above + 2)) + here_high + convert_short16(vload16(0, below + 2));

  /* Lanes 0 to 11 of these start at byte 0, 3 and 6 of the 18; lanes 12 to 15 are not used. */
  const short16 from0 = low;
  const short16 from3 = low.s3456789abcdeffff;
  const short16 from6 = high.s456789abcdefffff;
  short16 total;
  short16 centre;
  uchar16 result;

  if (at_left) {
    centre = here_low;
    total = from0.s0120123456789abc + from0 + from3;
  } else if (at_right) {
    centre = here_high.s456789abcdefffff;
    total = from3 + from6 + from6.s3456789abbbbbbbb;
  } else {
    centre = here_low.s3456789abcdeffff;
    total = from0 + from3 + from6;
  }

  result = convert_uchar16_sat(centre * (short16)(10) - total);
  if (at_left) result.s012 = convert_uchar3(centre.s012);
  if (at_right) result.s9ab = convert_uchar3(centre.s9ab);
  return result;
}

__kernel void laplace_vec4_short(__global const uchar *restrict source,
                                 __global uchar *restrict destination, uint width, uint height) {
  const uint own = 4u * (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  uint x;
  uint end;
  uint count;
  uchar16 result;

  if (own >= width || y >= height) return;

  end = min(own + 4u, width);
  if (width < 6u) { /* too narrow for the six-pixel loads */
    for (x = own; x < end; ++x) laplace_pixel(source, destination, x, y, width, height);
    return;
  }

  /* A row's last item computes the row's last four pixels and stores those that are its own. */
  x = end - 4u;
  count = end - own;

  if (y == 0u || y + 1u == height) {
    __global const uchar *here = source + 3u * (y * width + x);
    result.s01234567 = vload8(0, here);
    result.s89abcdef = (uchar8)(vload4(0, here + 8), (uchar4)(0));
  } else {
    result = laplace_four(source, x, y, width);
  }

  destination += 3u * (y * width + x);
  if (count == 4u) {
    vstore8(result.s01234567, 0, destination);
    vstore4(result.s89ab, 0, destination + 8);
    return;
  }
  if (count == 3u) vstore3(result.s345, 0, destination + 3);
  if (count >= 2u) vstore3(result.s678, 0, destination + 6);
  vstore3(result.s9ab, 0, destination + 9);
}

/* The pixels `x` to `end` - 1 of row y, one after the other. */
static void laplace_pixels(__global const uchar *source, __global uchar *destination, uint x,
                           uint end, uint y, uint width, uint height) {
  for (; x < end; ++x) laplace_pixel(source, destination, x, y, width, height);
}

/*
 * Whether byte -3 of the row above and byte `after` - 1 of the row below, counted from the byte
 * `offset`, are in the image. Loads of an item at the left or the right edge may go into
 * neighbouring rows, since its edge pixels are copied.
 */
static bool laplace_loads_inside(uint offset, uint after, uint stride, uint size) {
  return offset >= stride + 3u && size - offset >= stride + after;
}

typedef enum { VEC5_INT, VEC5_INT_SHARED, VEC5_SHORT } laplace_vec5_t;

/* Bytes 0 to 14 are the five pixels from `here`, as if none was on the ring; 15 is not used. */
static uchar16 laplace_five_int(__global const uchar *here, uint stride, laplace_vec5_t variant) {
  __global const uchar *row = here - stride;
  int16 total = (int16)(0);
  int16 centre = (int16)(0);
  uint i;

  for (i = 0u; i < 3u; ++i, row += stride) {
    const int16 left = convert_int16(vload16(0, row - 3));
    const int16 right = convert_int16(vload16(0, row + 3));
    const int16 middle = variant == VEC5_INT
                             ? convert_int16(vload16(0, row))
                             : (int16)(left.s3456789a, left.sbcde, left.sf, right.sabc);
    total += left + middle + right;
    if (i == 1u) centre = middle;
  }
  return convert_uchar16_sat(centre * 10 - total);
}

static uchar16 laplace_five_short(__global const uchar *here, uint stride) {
  const short16 here_left = convert_short16(vload16(0, here - 3));
  const short16 here_right = convert_short16(vload16(0, here + 3));
  const short16 left = convert_short16(vload16(0, here - stride - 3)) + here_left +
                       convert_short16(vload16(0, here + stride - 3));
  const short16 right = convert_short16(vload16(0, here - stride + 3)) + here_right +
                        convert_short16(vload16(0, here + stride + 3));
  const short16 middle = (short16)(left.s3456789a, left.sbcde, left.sf, right.sabc);
  const short16 centre =
      (short16)(here_left.s3456789a, here_left.sbcde, here_left.sf, here_right.sabc);
  return convert_uchar16_sat(centre * (short16)(10) - (left + middle + right));
}

/* Stores the last `count` of five pixels. */
static void laplace_store_five(uchar16 value, uint count, __global uchar *destination) {
  if (count == 5u) {
    vstore8(value.s01234567, 0, destination);
    vstore4(value.s89ab, 0, destination + 8);
    vstore3(value.scde, 0, destination + 12);
    return;
  }
  if (count == 4u) vstore3(value.s345, 0, destination + 3);
  if (count >= 3u) vstore3(value.s678, 0, destination + 6);
  if (count >= 2u) vstore3(value.s9ab, 0, destination + 9);
  vstore3(value.scde, 0, destination + 12);
}

static void laplace_vec5(__global const uchar *source, __global uchar *destination, uint width,
                         uint height, laplace_vec5_t variant) {
  const uint stride = 3u * width;
  const uint own = 5u * (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  uchar16 result;

  if (own >= width || y >= height) return;

  /* A row's last item computes the row's last five pixels and stores those that are its own. */
  const uint end = min(own + 5u, width);
  const uint offset = y * stride + 3u * (max(end, 5u) - 5u);
  __global const uchar *here = source + offset;
  if (width < 5u || !laplace_loads_inside(offset, 19u, stride, stride * height)) {
    laplace_pixels(source, destination, own, end, y, width, height);
    return;
  }

  if (variant == VEC5_SHORT) {
    result = laplace_five_short(here, stride);
  } else {
    result = laplace_five_int(here, stride, variant);
  }
  if (end == 5u) result.s012 = vload3(0, here);
  if (end == width) result.scde = vload3(0, here + 12);
  laplace_store_five(result, end - own, destination + offset);
}

__kernel void laplace_vec5_int(__global const uchar *restrict source,
                               __global uchar *restrict destination, uint width, uint height) {
  laplace_vec5(source, destination, width, height, VEC5_INT);
}

__kernel void laplace_vec5_int_shared(__global const uchar *restrict source,
                                      __global uchar *restrict destination, uint width,
                                      uint height) {
  laplace_vec5(source, destination, width, height, VEC5_INT_SHARED);
}

__kernel void laplace_vec5_short(__global const uchar *restrict source,
                                 __global uchar *restrict destination, uint width, uint height) {
  laplace_vec5(source, destination, width, height, VEC5_SHORT);
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
