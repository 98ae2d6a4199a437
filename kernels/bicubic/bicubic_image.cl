/*
 * Doubles an 8-bit image of four channels in both directions, by 4x4 Catmull-Rom interpolation,
 * through images. bicubic.cl has the definition and the buffer variant.
 *
 * source is a width x height image of CL_RGBA, CL_UNORM_INT8, destination one of 2 width x 2
 * height. Any width and height from 1 up. Dimensions 0 and 1 of the NDRange are the destination's
 * x and y; items outside it do nothing.
 *
 *   bicubic_generic  1 pixel an item, 16 reads. A level is read as v / 255 with an error, which
 *                    decides where the exact sum is a half: 1 level is tolerated.
 */

/* Its border colour is (0, 0, 0, 0). */
__constant sampler_t clamp_to_border =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

static float4 weights_at(float a) {
  const float a2 = a * a;
  const float a3 = a2 * a;

  return (float4)(-0.5f * a + a2 - 0.5f * a3, 1.0f - 2.5f * a2 + 1.5f * a3,
                  0.5f * a + 2.0f * a2 - 1.5f * a3, -0.5f * a2 + 0.5f * a3);
}

static float4 interpolated_row(__read_only image2d_t source, int x, int y, float4 weights) {
  return weights.x * read_imagef(source, clamp_to_border, (int2)(x - 1, y)) +
         weights.y * read_imagef(source, clamp_to_border, (int2)(x, y)) +
         weights.z * read_imagef(source, clamp_to_border, (int2)(x + 1, y)) +
         weights.w * read_imagef(source, clamp_to_border, (int2)(x + 2, y));
}

__kernel void bicubic_generic(__read_only image2d_t source, __write_only image2d_t destination,
                              uint width, uint height) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  float2 from_middle;
  float2 whole;
  float4 horizontal;
  float4 vertical;
  float4 sum;
  int column;
  int row;

  if ((uint)x >= 2u * width || (uint)y >= 2u * height) return;

  from_middle = ((float2)((float)x, (float)y) + 0.5f) * 0.5f - 0.5f;
  whole = floor(from_middle);
  horizontal = weights_at(from_middle.x - whole.x);
  vertical = weights_at(from_middle.y - whole.y);
  column = (int)whole.x;
  row = (int)whole.y;
  sum = vertical.x * interpolated_row(source, column, row - 1, horizontal) +
        vertical.y * interpolated_row(source, column, row, horizontal) +
        vertical.z * interpolated_row(source, column, row + 1, horizontal) +
        vertical.w * interpolated_row(source, column, row + 2, horizontal);
  write_imagef(destination, (int2)(x, y), clamp(sum, 0.0f, 1.0f));
}
