/*
 * Epsilon filter of an 8-bit luma plane, variants that read four pixels as one texel. epsilon.cl
 * has the definition.
 *
 * source is the plane as texels (epsilon_texel.clh), and so is destination, except for
 * epsilon_rgba: there it is a width x height image of CL_R, CL_UNORM_INT8. width and height are the
 * plane's. threshold is in levels, 0 to 255. Any width and height from 1 up. Dimension 0 of the
 * NDRange is x in units of an item's pixels, dimension 1 is y; items outside the image do nothing.
 *
 *   epsilon_rgba             1 pixel an item: 3 reads a row in place of 9
 *   epsilon_rgba_px4         4 pixels an item, which share the reads and slide over them
 *   epsilon_rgba_px4_select  no branch: the comparison becomes a factor
 *   epsilon_rgba_px8         8 pixels an item
 *   epsilon_rgba_px16        16 pixels an item; more live values than many GPUs have registers for
 *
 * They are steps 3, 4, 4-2, 5 and 6 of section 10.3 of Qualcomm's "Snapdragon Mobile Platform
 * OpenCL General Programming and Optimization" (80-NB295-11 Rev. C), in half with
 * -DEPSILON_HALF and in float without.
 *
 * Compile with the kernels folder on the include path. epsilon_number.clh has the arithmetic.
 */
#include "epsilon/epsilon_texel.clh"

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

__kernel void epsilon_rgba_px4(__read_only image2d_t source, __write_only image2d_t destination,
                               uint width, uint height, uint threshold) {
  epsilon_texel_item(source, destination, width, height, threshold, false);
}

__kernel void epsilon_rgba_px4_select(__read_only image2d_t source,
                                      __write_only image2d_t destination, uint width, uint height,
                                      uint threshold) {
  epsilon_texel_item(source, destination, width, height, threshold, true);
}

__kernel void epsilon_rgba_px8(__read_only image2d_t source, __write_only image2d_t destination,
                               uint width, uint height, uint threshold) {
  const int i = 2 * (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int last = (int)width - 1;

  if (i > last / 4 || y >= (int)height) return;

  const number4 limit = epsilon_limit(threshold);
  const number4 centre0 = epsilon_texel(source, i, y, last);
  const number4 centre1 = epsilon_texel(source, i + 1, y, last);
  float4 sum0 = (float4)(0.0f);
  float4 sum1 = (float4)(0.0f);
  number4 count0 = (number4)(0);
  number4 count1 = (number4)(0);
  int dy;

  for (dy = -4; dy <= 4; ++dy) {
    const number4 p0 = epsilon_texel(source, i - 1, y + dy, last);
    const number4 p1 = epsilon_texel(source, i, y + dy, last);
    const number4 p2 = epsilon_texel(source, i + 1, y + dy, last);
    const number4 p3 = epsilon_texel(source, i + 2, y + dy, last);
    number4 row_sum0 = (number4)(0);
    number4 row_sum1 = (number4)(0);
    EPSILON_ADD_ROW(EPSILON_ADD_BRANCH, p0, p1, p2, centre0, row_sum0, count0);
    EPSILON_ADD_ROW(EPSILON_ADD_BRANCH, p1, p2, p3, centre1, row_sum1, count1);
    sum0 += convert_float4(row_sum0);
    sum1 += convert_float4(row_sum1);
  }

  write_imagef(destination, (int2)(i, y), epsilon_average4(sum0, convert_float4(count0)));
  if (i < last / 4)
    write_imagef(destination, (int2)(i + 1, y), epsilon_average4(sum1, convert_float4(count1)));
}

__kernel void epsilon_rgba_px16(__read_only image2d_t source, __write_only image2d_t destination,
                                uint width, uint height, uint threshold) {
  const int i = 4 * (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int last = (int)width - 1;

  if (i > last / 4 || y >= (int)height) return;

  const number4 limit = epsilon_limit(threshold);
  const number4 centre0 = epsilon_texel(source, i, y, last);
  const number4 centre1 = epsilon_texel(source, i + 1, y, last);
  const number4 centre2 = epsilon_texel(source, i + 2, y, last);
  const number4 centre3 = epsilon_texel(source, i + 3, y, last);
  float4 sum0 = (float4)(0.0f);
  float4 sum1 = (float4)(0.0f);
  float4 sum2 = (float4)(0.0f);
  float4 sum3 = (float4)(0.0f);
  number4 count0 = (number4)(0);
  number4 count1 = (number4)(0);
  number4 count2 = (number4)(0);
  number4 count3 = (number4)(0);
  int dy;

  for (dy = -4; dy <= 4; ++dy) {
    const number4 p0 = epsilon_texel(source, i - 1, y + dy, last);
    const number4 p1 = epsilon_texel(source, i, y + dy, last);
    const number4 p2 = epsilon_texel(source, i + 1, y + dy, last);
    const number4 p3 = epsilon_texel(source, i + 2, y + dy, last);
    const number4 p4 = epsilon_texel(source, i + 3, y + dy, last);
    const number4 p5 = epsilon_texel(source, i + 4, y + dy, last);
    number4 row_sum0 = (number4)(0);
    number4 row_sum1 = (number4)(0);
    number4 row_sum2 = (number4)(0);
    number4 row_sum3 = (number4)(0);
    EPSILON_ADD_ROW(EPSILON_ADD_BRANCH, p0, p1, p2, centre0, row_sum0, count0);
    EPSILON_ADD_ROW(EPSILON_ADD_BRANCH, p1, p2, p3, centre1, row_sum1, count1);
    EPSILON_ADD_ROW(EPSILON_ADD_BRANCH, p2, p3, p4, centre2, row_sum2, count2);
    EPSILON_ADD_ROW(EPSILON_ADD_BRANCH, p3, p4, p5, centre3, row_sum3, count3);
    sum0 += convert_float4(row_sum0);
    sum1 += convert_float4(row_sum1);
    sum2 += convert_float4(row_sum2);
    sum3 += convert_float4(row_sum3);
  }

  write_imagef(destination, (int2)(i, y), epsilon_average4(sum0, convert_float4(count0)));
  if (i + 1 <= last / 4)
    write_imagef(destination, (int2)(i + 1, y), epsilon_average4(sum1, convert_float4(count1)));
  if (i + 2 <= last / 4)
    write_imagef(destination, (int2)(i + 2, y), epsilon_average4(sum2, convert_float4(count2)));
  if (i + 3 <= last / 4)
    write_imagef(destination, (int2)(i + 3, y), epsilon_average4(sum3, convert_float4(count3)));
}
