/*
 * Epsilon filter of an 8-bit luma plane, variants for Adreno GPUs that read several pixels of
 * an image at once. epsilon.cl has the definition.
 *
 * threshold is in levels, 0 to 255. Any width and height from 1 up. Dimension 0 of the NDRange is x
 * and dimension 1 is y, each in units of an item's pixels; items outside the image do nothing.
 *
 *   epsilon_qcom_4x1        4 x 1 pixels an item, reads of 4 x 1 pixels: 27 in place of 108
 *   epsilon_qcom_2x2        2 x 2 pixels an item, reads of 2 x 2 pixels: 25 in place of 100
 *
 * They need cl_qcom_vector_image_ops; source and destination are width x height images of CL_R,
 * CL_UNORM_INT8. They calculate in half with -DEPSILON_HALF and in float without.
 *
 * With -DEPSILON_QCOM_WRITES the destination of epsilon_qcom_4x1 is the luma plane of an NV12
 * image, CL_QCOM_NV12_Y, and four pixels are written at once. What such a write does beyond an edge
 * is not said: there they are written one by one.
 *
 * Compile with the kernels folder on the include path. epsilon_image.clh has the arithmetic.
 */
#define EPSILON_SELECT
#include "epsilon/epsilon_image.clh"

#ifdef cl_qcom_vector_image_ops
#pragma OPENCL EXTENSION cl_qcom_vector_image_ops : enable
#endif

#ifdef EPSILON_HALF
#define EPSILON_READ_4X1 qcom_read_imageh_4x1
#define EPSILON_READ_2X2 qcom_read_imageh_2x2
#define EPSILON_WRITE_4X1 qcom_write_imagehv_4x1_n8n00
#else
#define EPSILON_READ_4X1 qcom_read_imagef_4x1
#define EPSILON_READ_2X2 qcom_read_imagef_2x2
#define EPSILON_WRITE_4X1 qcom_write_imagefv_4x1_n8n00
#endif

/* What a read of several pixels gives beyond an edge is not said: there they are read one by one.
 */
static number4 epsilon_4x1(__read_only image2d_t source, int x, int y, int width, int height) {
  if (x >= 0 && x + 4 <= width && y >= 0 && y < height)
    return EPSILON_LEVELS(EPSILON_READ_4X1(source, clamp_to_edge, (float2)(x + 0.5f, y + 0.5f), 0));
  return EPSILON_LEVELS((number4)(EPSILON_READ(source, clamp_to_edge, (int2)(x, y)).x,
                                  EPSILON_READ(source, clamp_to_edge, (int2)(x + 1, y)).x,
                                  EPSILON_READ(source, clamp_to_edge, (int2)(x + 2, y)).x,
                                  EPSILON_READ(source, clamp_to_edge, (int2)(x + 3, y)).x));
}

/* In the order of a gather: lower left, lower right, upper right, upper left. */
static number4 epsilon_2x2(__read_only image2d_t source, int x, int y, int width, int height) {
  if (x >= 0 && x + 2 <= width && y >= 0 && y + 2 <= height)
    return EPSILON_LEVELS(EPSILON_READ_2X2(source, clamp_to_edge, (float2)(x + 0.5f, y + 0.5f), 0));
  return EPSILON_LEVELS((number4)(EPSILON_READ(source, clamp_to_edge, (int2)(x, y + 1)).x,
                                  EPSILON_READ(source, clamp_to_edge, (int2)(x + 1, y + 1)).x,
                                  EPSILON_READ(source, clamp_to_edge, (int2)(x + 1, y)).x,
                                  EPSILON_READ(source, clamp_to_edge, (int2)(x, y)).x));
}

/* What is written for a pixel. */
static float4 epsilon_pixel(float level) { return (float4)(level, 0.0f, 0.0f, 1.0f); }

/* A pixel, if the image has it. A macro, since Mesa cannot pass an image that is written to a
 * function. */
#define EPSILON_STORE(column, row, level) \
  if ((column) < w) write_imagef(destination, (int2)(column, row), epsilon_pixel(level))

__kernel void epsilon_qcom_4x1(__read_only image2d_t source, __write_only image2d_t destination,
                               uint width, uint height, uint threshold) {
  const int w = (int)width;
  const int h = (int)height;
  const int x = 4 * (int)get_global_id(0);
  const int y = (int)get_global_id(1);

  if (x >= w || y >= h) return;

  const number4 limit = epsilon_limit(threshold);
  const number4 centre = epsilon_4x1(source, x, y, w, h);
  float4 sum = (float4)(0.0f);
  number4 count = (number4)(0);
  float4 average;
  int dy;

  for (dy = -4; dy <= 4; ++dy) {
    const number4 left = epsilon_4x1(source, x - 4, y + dy, w, h);
    const number4 here = epsilon_4x1(source, x, y + dy, w, h);
    const number4 right = epsilon_4x1(source, x + 4, y + dy, w, h);
    number4 row_sum = (number4)(0);
    EPSILON_ADD_ROW(left, here, right, centre, row_sum, count);
    sum += convert_float4(row_sum);
  }

  average = epsilon_average4(sum, convert_float4(count));
#ifdef EPSILON_QCOM_WRITES
  if (x + 4 <= w) {
    number pixels[4] = {convert_number(average.x), convert_number(average.y),
                        convert_number(average.z), convert_number(average.w)};
    EPSILON_WRITE_4X1(destination, (int2)(x, y), pixels);
    return;
  }
#endif
  EPSILON_STORE(x, y, average.x);
  EPSILON_STORE(x + 1, y, average.y);
  EPSILON_STORE(x + 2, y, average.z);
  EPSILON_STORE(x + 3, y, average.w);
}

/* The quad between two that stand side by side, and between two on top of each other. */
#define EPSILON_BESIDE(left, right) ((number4)((left).y, (right).x, (right).w, (left).z))
#define EPSILON_BELOW(upper, lower) ((number4)((lower).w, (lower).z, (upper).y, (upper).x))

/* A row of the windows of a quad: the nine quads that begin in ten columns. */
#define EPSILON_ADD_QUADS(q0, q1, q2, q3, q4)                           \
  do {                                                                  \
    number4 row_sum = (number4)(0);                                     \
    EPSILON_ADD_WEIGHT(q0, centre, row_sum, count);                     \
    EPSILON_ADD_WEIGHT(EPSILON_BESIDE(q0, q1), centre, row_sum, count); \
    EPSILON_ADD_WEIGHT(q1, centre, row_sum, count);                     \
    EPSILON_ADD_WEIGHT(EPSILON_BESIDE(q1, q2), centre, row_sum, count); \
    EPSILON_ADD_WEIGHT(q2, centre, row_sum, count);                     \
    EPSILON_ADD_WEIGHT(EPSILON_BESIDE(q2, q3), centre, row_sum, count); \
    EPSILON_ADD_WEIGHT(q3, centre, row_sum, count);                     \
    EPSILON_ADD_WEIGHT(EPSILON_BESIDE(q3, q4), centre, row_sum, count); \
    EPSILON_ADD_WEIGHT(q4, centre, row_sum, count);                     \
    sum += convert_float4(row_sum);                                     \
  } while (0)

__kernel void epsilon_qcom_2x2(__read_only image2d_t source, __write_only image2d_t destination,
                               uint width, uint height, uint threshold) {
  const int w = (int)width;
  const int h = (int)height;
  const int x = 2 * (int)get_global_id(0);
  const int y = 2 * (int)get_global_id(1);

  if (x >= w || y >= h) return;

  const number4 limit = epsilon_limit(threshold);
  const number4 centre = epsilon_2x2(source, x, y, w, h);
  number4 quads[5];
  number4 above[5] = {(number4)(0), (number4)(0), (number4)(0), (number4)(0), (number4)(0)};
  float4 sum = (float4)(0.0f);
  number4 count = (number4)(0);
  float4 average;
  int dy, i;

  for (dy = -4; dy <= 4; dy += 2) {
#pragma unroll
    for (i = 0; i < 5; ++i) quads[i] = epsilon_2x2(source, x - 4 + 2 * i, y + dy, w, h);
    if (dy > -4)
      EPSILON_ADD_QUADS(EPSILON_BELOW(above[0], quads[0]), EPSILON_BELOW(above[1], quads[1]),
                        EPSILON_BELOW(above[2], quads[2]), EPSILON_BELOW(above[3], quads[3]),
                        EPSILON_BELOW(above[4], quads[4]));
    EPSILON_ADD_QUADS(quads[0], quads[1], quads[2], quads[3], quads[4]);
#pragma unroll
    for (i = 0; i < 5; ++i) above[i] = quads[i];
  }

  average = epsilon_average4(sum, convert_float4(count));
  EPSILON_STORE(x, y, average.w);
  EPSILON_STORE(x + 1, y, average.z);
  if (y + 1 >= h) return;
  EPSILON_STORE(x, y + 1, average.x);
  EPSILON_STORE(x + 1, y + 1, average.y);
}
