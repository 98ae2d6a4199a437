/*
 * Epsilon filter of an 8-bit luma plane, variants through images. epsilon.cl has the definition
 * and the buffer variant.
 *
 * source and destination are width x height images of CL_R, CL_UNORM_INT8. threshold is in
 * levels, 0 to 255. Any width and height from 1 up. Dimension 0 of the NDRange is x, dimension 1
 * is y; items outside the image do nothing.
 *
 *   epsilon_r_float  1 pixel an item, float (step 1 of section 10.3 of Qualcomm's "Snapdragon
 *                    Mobile Platform OpenCL General Programming and Optimization", 80-NB295-11
 *                    Rev. C)
 *
 * A level v is read as v / 255 with an error of an ulp or two, so nothing may hang on equality.
 * The comparison has half a level of slack on either side. The sum of at most 81 values is less
 * than a tenth of a level off, so rounding it gives the exact sum in levels; the average is then
 * rounded as in the buffer variant, and written as exactly its level over 255.
 */

__constant sampler_t clamp_to_edge =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void epsilon_r_float(__read_only image2d_t source, __write_only image2d_t destination,
                              uint width, uint height, uint threshold) {
  const uint column = (uint)get_global_id(0);
  const uint row = (uint)get_global_id(1);

  if (column >= width || row >= height) return;

  const int x = (int)column;
  const int y = (int)row;
  const float limit = (convert_float(min(threshold, 255u)) + 0.5f) / 255.0f;
  const float centre = read_imagef(source, clamp_to_edge, (int2)(x, y)).x;
  float sum = 0.0f;
  float count = 0.0f;
  float level;
  int dx;
  int dy;

  for (dy = -4; dy <= 4; ++dy) {
    for (dx = -4; dx <= 4; ++dx) {
      const float p = read_imagef(source, clamp_to_edge, (int2)(x + dx, y + dy)).x;
      const bool inside = fabs(centre - p) <= limit;
      sum += inside ? p : 0.0f;
      count += inside ? 1.0f : 0.0f;
    }
  }

  sum = floor(sum * 255.0f + 0.5f);
  level = floor((sum + floor(count * 0.5f) + 0.5f) / count);
  write_imagef(destination, (int2)(x, y), (float4)(level / 255.0f, 0.0f, 0.0f, 1.0f));
}
