/*
 * Epsilon filter of an 8-bit luma plane, variant through local memory. epsilon.cl has the
 * definition.
 *
 * source and destination are the plane as texels of four pixels (epsilon_image.clh); width and
 * height are the plane's. threshold is in levels, 0 to 255. Any width and height from 1 up. An
 * item is a texel: dimension 0 of the NDRange is x in units of 4 pixels, dimension 1 is y. Items
 * outside the image do nothing but help their work-group, whose size is fixed.
 *
 *   epsilon_local  work-groups of 8 x EPSILON_ROWS (16 or 24), 10 x (EPSILON_ROWS + 2) texels in
 *                  local memory; with -DEPSILON_SELECT no branch: the comparison becomes a factor
 *
 * This is steps 4-1, 4-1-1 and 4-1-2 of section 10.3 of Qualcomm's "Snapdragon Mobile Platform
 * OpenCL General Programming and Optimization" (80-NB295-11 Rev. C), in half with -DEPSILON_HALF (a
 * texel is 8 bytes of local memory) and in float without (16 bytes).
 *
 * Local memory has the work-group's texels and one more on every side, as levels: converted once.
 * The window reaches four rows up and down: the outer three are read from the image by the few
 * items that need them, 12 rows of a group's 144 (of 216).
 *
 * Compile with the kernels folder on the include path. epsilon_image.clh has the arithmetic.
 */
#include "epsilon/epsilon_image.clh"

#ifndef EPSILON_ROWS
#define EPSILON_ROWS 24
#endif
#define TILE_ROWS (EPSILON_ROWS + 2)

__attribute__((reqd_work_group_size(8, EPSILON_ROWS, 1))) __kernel void epsilon_local(
    __read_only image2d_t source, __write_only image2d_t destination, uint width, uint height,
    uint threshold) {
  __local number4 tile[10 * TILE_ROWS];
  const int column = (int)get_local_id(0);
  const int row = (int)get_local_id(1);
  const int first = 8 * (int)get_group_id(0);
  const int top = EPSILON_ROWS * (int)get_group_id(1);
  const int i = first + column;
  const int y = top + row;
  const int last = (int)width - 1;
  int n;
  int dy;

  for (n = 8 * row + column; n < 10 * TILE_ROWS; n += 8 * EPSILON_ROWS)
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
    if (tile_row >= 0 && tile_row < TILE_ROWS) {
      left = tile[10 * tile_row + column];
      here = tile[10 * tile_row + column + 1];
      right = tile[10 * tile_row + column + 2];
    } else {
      left = epsilon_texel(source, i - 1, y + dy, last);
      here = epsilon_texel(source, i, y + dy, last);
      right = epsilon_texel(source, i + 1, y + dy, last);
    }
    EPSILON_ADD_ROW(left, here, right, centre, row_sum, count);
    sum += convert_float4(row_sum);
  }
  write_imagef(destination, (int2)(i, y), epsilon_average4(sum, convert_float4(count)));
}
