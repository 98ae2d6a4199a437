/*
 * 8x8 box blur of an 8-bit image of four channels, variants through images. box.cl has the
 * definition and the buffer variant.
 *
 * source and destination are width x height images of CL_RGBA, CL_UNORM_INT8. Any width and
 * height from 1 up. Dimension 0 of the NDRange is x, dimension 1 is y; items outside the image
 * do nothing.
 *
 *   box_naive     64 reads an item; exact
 *   box_averages  then box_two_pass, together 20 reads an item: 2x2 averages into an image of
 *                 (width + 6) x (height + 6), CL_RGBA, CL_UNORM_INT8, which box_averages covers;
 *                 then the average of 16 of them. Averages of averages: 1 level is tolerated.
 *
 * Texel (i, j) of the averages is that of the four pixels from (i - 4, j - 4), clamped to the
 * source: the window of pixel (x, y) is texels x, x + 2, x + 4 and x + 6 of rows y to y + 6. The
 * averages reach beyond the source, as an average of clamped pixels is not a clamped average.
 *
 * The two variants are those of section 10.2.1 of Qualcomm's "Snapdragon Mobile Platform OpenCL
 * General Programming and Optimization" (80-NB295-11 Rev. C).
 */

__constant sampler_t clamp_to_edge =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void box_naive(__read_only image2d_t source, __write_only image2d_t destination,
                        uint width, uint height) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  float4 sum = (float4)(0.0f);
  int dx;
  int dy;

  if ((uint)x >= width || (uint)y >= height) return;

  for (dy = -4; dy < 4; ++dy)
    for (dx = -4; dx < 4; ++dx) sum += read_imagef(source, clamp_to_edge, (int2)(x + dx, y + dy));

  /* The sum is far less than half a level off: rounded it is exact, and halves then go up. */
  sum = floor(sum * 255.0f + 0.5f);
  sum = floor((sum + 32.0f) * (1.0f / 64.0f));
  write_imagef(destination, (int2)(x, y), sum / 255.0f);
}

__kernel void box_averages(__read_only image2d_t source, __write_only image2d_t averages,
                           uint width, uint height) {
  const int i = (int)get_global_id(0);
  const int j = (int)get_global_id(1);
  const int x = i - 4;
  const int y = j - 4;
  float4 sum;

  if ((uint)i >= width + 6u || (uint)j >= height + 6u) return;

  sum = read_imagef(source, clamp_to_edge, (int2)(x, y)) +
        read_imagef(source, clamp_to_edge, (int2)(x + 1, y)) +
        read_imagef(source, clamp_to_edge, (int2)(x, y + 1)) +
        read_imagef(source, clamp_to_edge, (int2)(x + 1, y + 1));
  write_imagef(averages, (int2)(i, j), sum * 0.25f);
}

__kernel void box_two_pass(__read_only image2d_t averages, __write_only image2d_t destination,
                           uint width, uint height) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  float4 sum = (float4)(0.0f);
  int dx;
  int dy;

  if ((uint)x >= width || (uint)y >= height) return;

  for (dy = 0; dy < 8; dy += 2)
    for (dx = 0; dx < 8; dx += 2)
      sum += read_imagef(averages, clamp_to_edge, (int2)(x + dx, y + dy));
  write_imagef(destination, (int2)(x, y), sum * (1.0f / 16.0f));
}
