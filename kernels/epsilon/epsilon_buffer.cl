/*
 * Epsilon filter of an 8-bit luma plane, buffer variants of up to 8 pixels an item. epsilon.cl has
 * the definition, the arithmetic, which is the same, and the variants of 16 pixels.
 *
 * Both planes hold height rows of width bytes with no padding, width * height < 2^32, and do not
 * overlap. threshold is in levels, 0 to 255. Any width and height from 1 up. Dimension 0 of the
 * NDRange is x in units of an item's pixels, dimension 1 is y; items outside the image do nothing.
 *
 *   epsilon_buffer_packed      1 pixel an item: four pixels a 32-bit load
 *   epsilon_buffer_px4         4 pixels an item, which share the loads and slide over them
 *   epsilon_buffer_px4_select  the same with no branch
 *   epsilon_buffer_px8         8 pixels an item
 *
 * Compile with the kernels folder on the include path.
 */
#include "epsilon/epsilon_words.clh"

/* Of the pixel in `lane`: a neighbour that is within the threshold is added and counted. */
#define EPSILON_ADD_LANE(lane)                                    \
  do {                                                            \
    if (abs_diff(centre.lane, value.lane) <= (ushort)threshold) { \
      sum.lane += value.lane;                                     \
      count.lane += (ushort)1;                                    \
    }                                                             \
  } while (0)

#define EPSILON_ADD_BRANCH4(p) \
  do {                         \
    const ushort4 value = (p); \
    EPSILON_ADD_LANE(s0);      \
    EPSILON_ADD_LANE(s1);      \
    EPSILON_ADD_LANE(s2);      \
    EPSILON_ADD_LANE(s3);      \
  } while (0)

#define EPSILON_ADD_BRANCH8(p) \
  do {                         \
    const ushort8 value = (p); \
    EPSILON_ADD_LANE(s0);      \
    EPSILON_ADD_LANE(s1);      \
    EPSILON_ADD_LANE(s2);      \
    EPSILON_ADD_LANE(s3);      \
    EPSILON_ADD_LANE(s4);      \
    EPSILON_ADD_LANE(s5);      \
    EPSILON_ADD_LANE(s6);      \
    EPSILON_ADD_LANE(s7);      \
  } while (0)

#define EPSILON_ADD_SELECT4(p)                                                                  \
  do {                                                                                          \
    const ushort4 value = (p);                                                                  \
    const ushort4 inside = as_ushort4(abs_diff(centre, value) <= (ushort4)((ushort)threshold)); \
    sum += select((ushort4)(0), value, inside);                                                 \
    count += select((ushort4)(0), (ushort4)(1), inside);                                        \
  } while (0)

/* A row of the windows of four pixels. */
#define EPSILON_ADD_ROW4(ADD, words)                             \
  do {                                                           \
    const ushort4 left = convert_ushort4(as_uchar4((words).x));  \
    const ushort4 here = convert_ushort4(as_uchar4((words).y));  \
    const ushort4 right = convert_ushort4(as_uchar4((words).z)); \
    ADD(left);                                                   \
    ADD((ushort4)(left.yzw, here.x));                            \
    ADD((ushort4)(left.zw, here.xy));                            \
    ADD((ushort4)(left.w, here.xyz));                            \
    ADD(here);                                                   \
    ADD((ushort4)(here.yzw, right.x));                           \
    ADD((ushort4)(here.zw, right.xy));                           \
    ADD((ushort4)(here.w, right.xyz));                           \
    ADD(right);                                                  \
  } while (0)

__kernel void epsilon_buffer_packed(__global const uchar *restrict source,
                                    __global uchar *restrict destination, uint width, uint height,
                                    uint threshold) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x >= width || y >= height) return;

  const uint lane = x % 4u;
  const ushort4 centre = (ushort4)((ushort)source[y * width + x]);
  const ushort far = 1024; /* what no threshold lets in */
  ushort4 sum = (ushort4)(0);
  ushort4 count = (ushort4)(0);
  uint total;
  uint number;
  int dy;

  threshold = min(threshold, 255u);
  for (dy = -4; dy <= 4; ++dy) {
    const uint row = (uint)clamp((int)y + dy, 0, (int)height - 1) * width;
    const uint4 words = epsilon_columns12(source, row, x - lane, width);
    ushort4 left = convert_ushort4(as_uchar4(words.x));
    ushort4 right = convert_ushort4(as_uchar4(words.z));

    /* The window begins at lane `lane` of `left` and ends at the same one of `right`. */
    left.x = lane > 0u ? far : left.x;
    left.y = lane > 1u ? far : left.y;
    left.z = lane > 2u ? far : left.z;
    right.y = lane < 1u ? far : right.y;
    right.z = lane < 2u ? far : right.z;
    right.w = lane < 3u ? far : right.w;
    EPSILON_ADD_BRANCH4(left);
    EPSILON_ADD_BRANCH4(convert_ushort4(as_uchar4(words.y)));
    EPSILON_ADD_BRANCH4(right);
  }

  total = (uint)sum.x + sum.y + sum.z + sum.w;
  number = (uint)count.x + count.y + count.z + count.w;
  destination[y * width + x] = (uchar)((total + number / 2u) / number);
}

/* Four pixels an item. */
static inline void epsilon_px4(__global const uchar *source, __global uchar *destination,
                               uint width, uint height, uint threshold, bool branch_free) {
  const uint x = 4u * (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x >= width || y >= height) return;

  const ushort4 centre =
      convert_ushort4(as_uchar4(epsilon_columns12(source, y * width, x, width).y));
  ushort4 sum = (ushort4)(0);
  ushort4 count = (ushort4)(0);
  int dy;

  threshold = min(threshold, 255u);
  for (dy = -4; dy <= 4; ++dy) {
    const uint row = (uint)clamp((int)y + dy, 0, (int)height - 1) * width;
    const uint4 words = epsilon_columns12(source, row, x, width);
    if (branch_free)
      EPSILON_ADD_ROW4(EPSILON_ADD_SELECT4, words);
    else
      EPSILON_ADD_ROW4(EPSILON_ADD_BRANCH4, words);
  }
  epsilon_store(
      destination, y * width + x,
      convert_uchar4((convert_float4(sum + (count >> (ushort)(1))) + 0.5f) / convert_float4(count)),
      width - x);
}

__kernel void epsilon_buffer_px4(__global const uchar *restrict source,
                                 __global uchar *restrict destination, uint width, uint height,
                                 uint threshold) {
  epsilon_px4(source, destination, width, height, threshold, false);
}

__kernel void epsilon_buffer_px4_select(__global const uchar *restrict source,
                                        __global uchar *restrict destination, uint width,
                                        uint height, uint threshold) {
  epsilon_px4(source, destination, width, height, threshold, true);
}

__kernel void epsilon_buffer_px8(__global const uchar *restrict source,
                                 __global uchar *restrict destination, uint width, uint height,
                                 uint threshold) {
  const uint x = 8u * (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x >= width || y >= height) return;

  const ushort8 centre =
      convert_ushort16(as_uchar16(epsilon_columns16(source, y * width, x, width))).s456789ab;
  ushort8 sum = (ushort8)(0);
  ushort8 count = (ushort8)(0);
  uchar8 average;
  int dy;

  threshold = min(threshold, 255u);
  for (dy = -4; dy <= 4; ++dy) {
    const uint row = (uint)clamp((int)y + dy, 0, (int)height - 1) * width;
    const ushort16 p = convert_ushort16(as_uchar16(epsilon_columns16(source, row, x, width)));
    EPSILON_ADD_BRANCH8(p.s01234567);
    EPSILON_ADD_BRANCH8(p.s12345678);
    EPSILON_ADD_BRANCH8(p.s23456789);
    EPSILON_ADD_BRANCH8(p.s3456789a);
    EPSILON_ADD_BRANCH8(p.s456789ab);
    EPSILON_ADD_BRANCH8(p.s56789abc);
    EPSILON_ADD_BRANCH8(p.s6789abcd);
    EPSILON_ADD_BRANCH8(p.s789abcde);
    EPSILON_ADD_BRANCH8(p.s89abcdef);
  }

  average =
      convert_uchar8((convert_float8(sum + (count >> (ushort)(1))) + 0.5f) / convert_float8(count));
  epsilon_store(destination, y * width + x, average.s0123, width - x);
  if (x + 4u < width) epsilon_store(destination, y * width + x + 4u, average.s4567, width - x - 4u);
}
