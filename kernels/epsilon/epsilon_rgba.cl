/*
 * Epsilon filter of an 8-bit luma plane, variants that read four pixels as one texel. epsilon.cl
 * has the definition.
 *
 * source is the plane as texels (epsilon_image.clh), and so is destination, except for
 * epsilon_rgba: there it is a width x height image of CL_R, CL_UNORM_INT8. width and height are the
 * plane's. threshold is in levels, 0 to 255. Any width and height from 1 up. Dimension 0 of the
 * NDRange is x in units of an item's pixels, dimension 1 is y; items outside the image do nothing.
 *
 *   epsilon_rgba         1 pixel an item: 3 reads a row in place of 9
 *   epsilon_rgba_texels  EPSILON_TEXELS (1, 2 or 4) texels an item, which share the reads and slide
 *                        over them; 4 are more live values than many GPUs have registers for. With
 *                        -DEPSILON_SELECT no branch: the comparison becomes a factor
 *
 * They are steps 3, 4, 5 and 6, and 4-2 of section 10.3 of Qualcomm's "Snapdragon Mobile Platform
 * OpenCL General Programming and Optimization" (80-NB295-11 Rev. C), in half with -DEPSILON_HALF
 * and in float without.
 *
 * Compile with the kernels folder on the include path. epsilon_image.clh has the arithmetic.
 */
#include "epsilon/epsilon_image.clh"

__kernel void epsilon_rgba(__read_only image2d_t source, __write_only image2d_t destination,
                           uint width, uint height, uint threshold) {
  const uint column = (uint)get_global_id(0);
  const uint row = (uint)get_global_id(1);

  if (column >= width || row >= height) return;

  const int x = (int)column;
  const int y = (int)row;
  const int i = x / 4;
  const int lane = x & 3;
  const int last = (int)width - 1;
  const number4 limit = epsilon_limit(threshold);
  const number4 far = (number4)(1024); /* what no threshold lets in */
  const number4 here = epsilon_texel(source, i, y, last);
  const number4 centre =
      (number4)(lane < 2 ? (lane == 0 ? here.x : here.y) : (lane == 2 ? here.z : here.w));
  float4 sum = (float4)(0.0f);
  number4 count = (number4)(0);
  float4 counts;
  int dy;

  for (dy = -4; dy <= 4; ++dy) {
    number4 left = epsilon_texel(source, i - 1, y + dy, last);
    number4 right = epsilon_texel(source, i + 1, y + dy, last);
    number4 row_sum = (number4)(0);

    /* The window begins at lane `lane` of `left` and ends at the same one of `right`. */
    left.x = lane > 0 ? far.x : left.x;
    left.y = lane > 1 ? far.x : left.y;
    left.z = lane > 2 ? far.x : left.z;
    right.y = lane < 1 ? far.x : right.y;
    right.z = lane < 2 ? far.x : right.z;
    right.w = lane < 3 ? far.x : right.w;
    EPSILON_ADD_BRANCH(left, centre, row_sum, count);
    EPSILON_ADD_BRANCH(epsilon_texel(source, i, y + dy, last), centre, row_sum, count);
    EPSILON_ADD_BRANCH(right, centre, row_sum, count);
    sum += convert_float4(row_sum);
  }

  counts = convert_float4(count);
  write_imagef(destination, (int2)(x, y),
               (float4)(epsilon_average(sum.x + sum.y + sum.z + sum.w,
                                        counts.x + counts.y + counts.z + counts.w),
                        0.0f, 0.0f, 1.0f));
}

#ifndef EPSILON_TEXELS
#define EPSILON_TEXELS 1
#endif

__kernel void epsilon_rgba_texels(__read_only image2d_t source, __write_only image2d_t destination,
                                  uint width, uint height, uint threshold) {
  const int first = EPSILON_TEXELS * (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int last = (int)width - 1;
  number4 centre[EPSILON_TEXELS];
  number4 count[EPSILON_TEXELS];
  float4 sum[EPSILON_TEXELS];
  int dy, i;

  if (first > last / 4 || y >= (int)height) return;

  const number4 limit = epsilon_limit(threshold);
#pragma unroll
  for (i = 0; i < EPSILON_TEXELS; ++i) {
    centre[i] = epsilon_texel(source, first + i, y, last);
    count[i] = (number4)(0);
    sum[i] = (float4)(0.0f);
  }
  for (dy = -4; dy <= 4; ++dy) {
    number4 left = epsilon_texel(source, first - 1, y + dy, last);
    number4 here = epsilon_texel(source, first, y + dy, last);
#pragma unroll
    for (i = 0; i < EPSILON_TEXELS; ++i) {
      const number4 right = epsilon_texel(source, first + i + 1, y + dy, last);
      number4 row_sum = (number4)(0);
      EPSILON_ADD_ROW(left, here, right, centre[i], row_sum, count[i]);
      sum[i] += convert_float4(row_sum);
      left = here;
      here = right;
    }
  }
#pragma unroll
  for (i = 0; i < EPSILON_TEXELS; ++i)
    if (first + i <= last / 4)
      write_imagef(destination, (int2)(first + i, y),
                   epsilon_average4(sum[i], convert_float4(count[i])));
}
