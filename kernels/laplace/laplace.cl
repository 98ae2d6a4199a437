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
 *   laplace_scalar      1 pixel an item, int, byte loads
 *   laplace_vec4_short  4 pixels (12 bytes) an item, short16, two 16-byte loads a row
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

static void laplace_pixel(__global const uchar *source, __global uchar *destination, uint x, uint y,
                          uint width, uint height) {
  const uint offset = 3u * (y * width + x);

  destination[offset] = laplace_byte(source, offset, x, y, width, height);
  destination[offset + 1u] = laplace_byte(source, offset + 1u, x, y, width, height);
  destination[offset + 2u] = laplace_byte(source, offset + 2u, x, y, width, height);
}

__kernel void laplace_scalar(__global const uchar *restrict source,
                             __global uchar *restrict destination, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x < width && y < height) laplace_pixel(source, destination, x, y, width, height);
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
