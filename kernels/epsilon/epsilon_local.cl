/*
 * Epsilon filter of an 8-bit luma plane, variants through local memory. epsilon.cl has the
 * definition.
 *
 * source and destination are the plane as texels of four pixels (epsilon_texel.clh); width and
 * height are the plane's. threshold is in levels, 0 to 255. Any width and height from 1 up. An
 * item is a texel: dimension 0 of the NDRange is x in units of 4 pixels, dimension 1 is y. Items
 * outside the image do nothing but help their work-group, whose size is fixed.
 *
 *   epsilon_local_8x16         work-groups of 8 x 16, 10 x 18 texels in local memory
 *   epsilon_local_8x24         work-groups of 8 x 24, 10 x 26 texels in local memory
 *   epsilon_local_8x24_select  the same with no branch: the comparison becomes a factor
 *
 * They are steps 4-1, 4-1-1 and 4-1-2 of section 10.3 of Qualcomm's "Snapdragon Mobile Platform
 * OpenCL General Programming and Optimization" (80-NB295-11 Rev. C), in half with -DEPSILON_HALF (a
 * texel is 8 bytes of local memory) and in float without (16 bytes).
 *
 * Local memory has the work-group's texels and one more on every side, as levels: converted once.
 * The window reaches four rows up and down: the outer three are read from the image by the few
 * items that need them, 12 rows of a group's 144 (of 216).
 *
 * Compile with the kernels folder on the include path. epsilon_number.clh has the arithmetic.
 */
#include "epsilon/epsilon_texel.clh"

/* An item of a work-group of 8 x `rows` items, which share `tile`, 10 x (rows + 2) texels. */
static inline void epsilon_local_item(__read_only image2d_t source,
                                      __write_only image2d_t destination, uint width, uint height,
                                      uint threshold, __local number4 *tile, int rows,
                                      bool branch_free) {
  const int column = (int)get_local_id(0);
  const int row = (int)get_local_id(1);
  const int first = 8 * (int)get_group_id(0);
  const int top = rows * (int)get_group_id(1);
  const int i = first + column;
  const int y = top + row;
  const int last = (int)width - 1;
  int n;
  int dy;

  for (n = 8 * row + column; n < 10 * (rows + 2); n += 8 * rows)
    tile[n] = epsilon_texel(source, first - 1 + n % 10, top - 1 + n / 10, last);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i > last / 4 || y >= (int)height) return;

  const number4 limit = epsilon_limit(threshold);
  const number4 centre = tile[10 * (row + 1) + column + 1];
  float4 sum = (float4)(0.0f);
  number4 count = (number4)(0);

  for (dy = -4; dy <= 4; ++dy) {
    const int tile_row = row + 1 + dy;
    number4 left;
    number4 here;
    number4 right;
    number4 row_sum = (number4)(0);
    if (tile_row >= 0 && tile_row < rows + 2) {
      left = tile[10 * tile_row + column];
      here = tile[10 * tile_row + column + 1];
      right = tile[10 * tile_row + column + 2];
    } else {
      left = epsilon_texel(source, i - 1, y + dy, last);
      here = epsilon_texel(source, i, y + dy, last);
      right = epsilon_texel(source, i + 1, y + dy, last);
    }
    if (branch_free)
      EPSILON_ADD_ROW(EPSILON_ADD_WEIGHT, left, here, right, centre, row_sum, count);
    else
      EPSILON_ADD_ROW(EPSILON_ADD_BRANCH, left, here, right, centre, row_sum, count);
    sum += convert_float4(row_sum);
  }
  write_imagef(destination, (int2)(i, y), epsilon_average4(sum, convert_float4(count)));
}

__attribute__((reqd_work_group_size(8, 16, 1))) __kernel void epsilon_local_8x16(
    __read_only image2d_t source, __write_only image2d_t destination, uint width, uint height,
    uint threshold) {
  __local number4 tile[10 * 18];

  epsilon_local_item(source, destination, width, height, threshold, tile, 16, false);
}

__attribute__((reqd_work_group_size(8, 24, 1))) __kernel void epsilon_local_8x24(
    __read_only image2d_t source, __write_only image2d_t destination, uint width, uint height,
    uint threshold) {
  __local number4 tile[10 * 26];

  epsilon_local_item(source, destination, width, height, threshold, tile, 24, false);
}

__attribute__((reqd_work_group_size(8, 24, 1))) __kernel void epsilon_local_8x24_select(
    __read_only image2d_t source, __write_only image2d_t destination, uint width, uint height,
    uint threshold) {
  __local number4 tile[10 * 26];

  epsilon_local_item(source, destination, width, height, threshold, tile, 24, true);
}
