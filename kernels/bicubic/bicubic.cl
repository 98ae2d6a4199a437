/*
 * Doubles an 8-bit image of four channels in both directions, by 4x4 Catmull-Rom interpolation.
 * Buffer variant.
 *
 *   destination(X, Y) = the source at ((X + 0.5) / 2, (Y + 0.5) / 2), a pixel's middle being at
 *                       its coordinates plus 0.5: the sum over 4x4 pixels of w(i) w(j) p(i, j),
 *                       where p is 0 outside the source; clamped to 0 to 255, rounded to nearest,
 *                       halves to even
 *   a = frac(x - 0.5);  w(0) = -a/2 + a^2 - a^3/2     w(1) = 1 - 5/2 a^2 + 3/2 a^3
 *                       w(2) = a/2 + 2 a^2 - 3/2 a^3  w(3) = -a^2/2 + a^3/2
 *
 * source holds height rows of width pixels of four bytes, destination 2 height rows of 2 width,
 * without padding; each has fewer than 2^32 bytes, and they do not overlap. Any width and height
 * from 1 up. Dimension 0 of the NDRange is the source's x, dimension 1 counts strips of 8 source
 * rows: floor(height / 8) + 1 of them, as they start a row early. Further items do nothing.
 *
 *   bicubic_buffer  2x16 pixels of the destination an item; exact
 *
 * When doubling, a is 1/4 in odd and 3/4 in even pixels, and the weights are multiples of 1/128:
 * all sums are multiples of 2^-14 below 2^9, which float holds exactly, in any order. The variant
 * through images is in bicubic_image.cl.
 *
 * An item slides down its strip with the last four rows' horizontal results in registers. Between
 * source rows r and r + 1 lie destination rows 2 r + 1 and 2 r + 2, which need the same four rows,
 * r - 1 to r + 2: strips start at row -1.
 */

#define WEIGHT_0 (-9.0f / 128.0f) /* of a = 1/4; those of a = 3/4 are the same backwards */
#define WEIGHT_1 (111.0f / 128.0f)
#define WEIGHT_2 (29.0f / 128.0f)
#define WEIGHT_3 (-3.0f / 128.0f)

#define INTERPOLATE_QUARTER(p, q, r, s) ((p)*WEIGHT_0 + (q)*WEIGHT_1 + (r)*WEIGHT_2 + (s)*WEIGHT_3)
#define INTERPOLATE_THREE_QUARTERS(p, q, r, s) INTERPOLATE_QUARTER(s, r, q, p)

#define STRIP 8

static float4 bicubic_pixel(uint pixel, bool inside) {
  return convert_float4(as_uchar4(inside ? pixel : 0u));
}

/* The horizontal results of a row for destination pixels 2 x (low half) and 2 x + 1 (high). */
static float8 bicubic_row(__global const uint *source, int y, uint x, uint width, uint height) {
  const bool inside = (uint)y < height;
  const uint last = width - 1u;
  __global const uint *row = source + (uint)clamp(y, 0, (int)height - 1) * width;
  const float4 p0 = bicubic_pixel(row[max(x, 2u) - 2u], inside && x >= 2u);
  const float4 p1 = bicubic_pixel(row[max(x, 1u) - 1u], inside && x >= 1u);
  const float4 p2 = bicubic_pixel(row[x], inside);
  const float4 p3 = bicubic_pixel(row[min(x + 1u, last)], inside && x + 1u <= last);
  const float4 p4 = bicubic_pixel(row[min(x + 2u, last)], inside && x + 2u <= last);

  return (float8)(INTERPOLATE_THREE_QUARTERS(p0, p1, p2, p3), INTERPOLATE_QUARTER(p1, p2, p3, p4));
}

/* Stores two pixels of destination row `y`, unless it is outside. */
static void bicubic_store(float8 pixels, __global uchar8 *destination, int y, uint x, uint width,
                          uint height) {
  if ((uint)y < 2u * height) destination[(uint)y * width + x] = convert_uchar8_sat_rte(pixels);
}

/* The two rows between source rows y and y + 1; `d` becomes row y + 2, the others precede it. */
#define BICUBIC_STEP(a, b, c, d)                                                              \
  do {                                                                                        \
    d = bicubic_row(source, y + 2, x, width, height);                                         \
    bicubic_store(INTERPOLATE_QUARTER(a, b, c, d), destination, 2 * y + 1, x, width, height); \
    bicubic_store(INTERPOLATE_THREE_QUARTERS(a, b, c, d), destination, 2 * y + 2, x, width,   \
                  height);                                                                    \
    ++y;                                                                                      \
  } while (0)

__kernel void bicubic_buffer(__global const uint *restrict source,
                             __global uchar8 *restrict destination, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint strip = (uint)get_global_id(1);
  int y;
  int end;
  float8 a;
  float8 b;
  float8 c;
  float8 d;

  /* The last strip has at least row height - 1. */
  if (x >= width || strip > height / STRIP) return;

  y = (int)(strip * STRIP) - 1;
  end = min(y + STRIP, (int)height);
  a = bicubic_row(source, y - 1, x, width, height);
  b = bicubic_row(source, y, x, width, height);
  c = bicubic_row(source, y + 1, x, width, height);
  while (y < end) {
    BICUBIC_STEP(a, b, c, d);
    BICUBIC_STEP(b, c, d, a);
    BICUBIC_STEP(c, d, a, b);
    BICUBIC_STEP(d, a, b, c);
  }
}
