/*
 * Epsilon filter of an 8-bit luma plane, one pixel an item, through images of one channel.
 * epsilon.cl has the definition.
 *
 * source and destination are width x height images of CL_R, CL_UNORM_INT8. threshold is in
 * levels, 0 to 255. Any width and height from 1 up. Dimension 0 of the NDRange is x, dimension 1
 * is y; items outside the image do nothing.
 *
 *   epsilon_r  steps 1 (float) and 2 (with -DEPSILON_HALF) of section 10.3 of Qualcomm's
 *              "Snapdragon Mobile Platform OpenCL General Programming and Optimization"
 *              (80-NB295-11 Rev. C)
 *
 * Compile with the kernels folder on the include path. epsilon_image.clh has the arithmetic.
 */
#include "epsilon/epsilon_image.clh"

__kernel void epsilon_r(__read_only image2d_t source, __write_only image2d_t destination,
                        uint width, uint height, uint threshold) {
  const uint column = (uint)get_global_id(0);
  const uint row = (uint)get_global_id(1);

  if (column >= width || row >= height) return;

  const int x = (int)column;
  const int y = (int)row;
  const number limit = convert_number(min(threshold, 255u)) + (number)0.5f;
  const number centre = EPSILON_LEVELS(EPSILON_READ(source, clamp_to_edge, (int2)(x, y)).x);
  float sum = 0.0f;
  number count = 0;
  int dx;
  int dy;

  for (dy = -4; dy <= 4; ++dy) {
    number row_sum = 0;
    for (dx = -4; dx <= 4; ++dx) {
      const number p =
          EPSILON_LEVELS(EPSILON_READ(source, clamp_to_edge, (int2)(x + dx, y + dy)).x);
      const bool inside = fabs(centre - p) <= limit;
      row_sum += inside ? p : (number)0;
      count += inside ? (number)1 : (number)0;
    }
    sum += convert_float(row_sum);
  }

  write_imagef(destination, (int2)(x, y),
               (float4)(epsilon_average(sum, convert_float(count)), 0.0f, 0.0f, 1.0f));
}
