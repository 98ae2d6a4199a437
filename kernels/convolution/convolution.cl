/*
 * Separable convolution of a plane of float, with weights that the host gives at each launch.
 *
 *   destination(x, y) = sum over j and i of weights_y[j] * weights_x[i] * source(x + i - R, y + j -
 * R)
 *
 * with i and j from 0 to 2 R, R = CONVOLUTION_RADIUS (7: 15 taps along each axis) and coordinates
 * clamped to the image. Weights are not turned round, as in most image libraries.
 *
 * The planes hold height rows of width floats with no padding, fewer than 2^31 bytes, and do not
 * overlap. Any width and height from 1 up; items outside the image do nothing. convolution.clh says
 * what `weights` holds and where it is.
 *
 *   convolution_direct   1 pixel an item, all of its window. With CONVOLUTION_SIZED Qualcomm's
 *                        compiler is told how many bytes the weights take: constant memory of a
 *                        known size can be loaded onto the chip before the kernel runs, and such an
 *                        argument otherwise stays in global memory
 *   convolution_rows     1 pixel an item, the taps along x; then
 *   convolution_columns  1 column by 8 rows an item, those along y
 *
 * convolution_local.cl has the variant through local memory. Compile with the kernels folder on the
 * include path.
 */
#include "convolution/convolution.clh"

#ifdef CONVOLUTION_SIZED
#ifdef __clang__ /* the host check, which knows no attributes of vendors */
#pragma clang diagnostic ignored "-Wunknown-attributes"
#endif
#define SIZED __attribute__((max_constant_size(2 * CONVOLUTION_TAPS * 4)))
#else
#define SIZED
#endif

__kernel void convolution_direct(__global const float *restrict source, WEIGHTS SIZED,
                                 __global float *restrict destination, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x < width && y < height)
    destination[y * width + x] = window_sum(source, weights, x, y, width, height);
}

__kernel void convolution_rows(__global const float *restrict source, WEIGHTS,
                               __global float *restrict rows, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x < width && y < height) rows[y * width + x] = row_sum(source + y * width, weights, x, width);
}

#define COLUMN_ROWS 8

__kernel void convolution_columns(__global const float *restrict rows, WEIGHTS,
                                  __global float *restrict destination, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = COLUMN_ROWS * (uint)get_global_id(1);
  float column[COLUMN_ROWS + 2 * CONVOLUTION_RADIUS];
  int i, j;

  if (x >= width || y >= height) return;

  CONVOLUTION_UNROLL
  for (i = 0; i < COLUMN_ROWS + 2 * CONVOLUTION_RADIUS; ++i)
    column[i] = rows[clamped((int)y + i - CONVOLUTION_RADIUS, height) * width + x];
  CONVOLUTION_UNROLL
  for (i = 0; i < COLUMN_ROWS; ++i) {
    float sum = 0.0f;
    CONVOLUTION_UNROLL
    for (j = 0; j < CONVOLUTION_TAPS; ++j) sum += weights[CONVOLUTION_TAPS + j] * column[i + j];
    if (y + (uint)i < height) destination[(y + (uint)i) * width + x] = sum;
  }
}
