/*
 * 8x8 box blur of an 8-bit image of four channels, through local memory, for a GPU whose memory is
 * fast: box.cl has the definition and the planes' layout.
 *
 *   box_columns  4 pixels by BOX_ROWS rows an item, work-groups of 128 in a row; exact
 *
 * Any width and height from 1 up, fewer than 2^31 bytes. An item sums its four columns over eight
 * rows while it slides down its strip: the newest row comes, and the oldest goes, which a cache
 * still has. Along x the sums of neighbours meet in local memory: a window is the end of the
 * left item's four columns, all of this item's, and the beginning of the right one's. So no pixel
 * is unpacked by more than one item.
 *
 * A work-group writes 504 columns, and its first and last item only lend their sums. Dimension 0 of
 * the NDRange is 128 items for each 504 columns (16 for 63), dimension 1 counts strips of BOX_ROWS
 * rows. Two channels share a uint, as in box.cl; their sums are kept times four, so that an average
 * is the upper byte of its lane.
 *
 * Compile with the kernels folder on the include path.
 */
#include "common/words.clh"

/* Rows of a strip, a multiple of 4. Short strips are more items, long ones fewer rows read twice.
 */
#ifndef BOX_ROWS
#define BOX_ROWS 16
#endif

#define BOX_GROUP 128
#define BOX_HALF 0x00800080u /* of the result: 32 of 64, times 4 */

/* Pixels x to x + 3 of row y, each clamped to the image; where `whole`, to groups of four. */
static uint4 box_load(__global const uint *source, int x, int y, int width, int height,
                      bool whole) {
  __global const uint *row = source + (uint)clamp(y, 0, height - 1) * (uint)width;
  const int last = width - 1;

  if (whole) return *(__global const uint4 *)(row + clamp(x, 0, width - 4));
  return (uint4)(row[clamp(x, 0, last)], row[clamp(x + 1, 0, last)], row[clamp(x + 2, 0, last)],
                 row[clamp(x + 3, 0, last)]);
}

/* Four rows from y on. All loads are begun before the first is waited for. */
static uint16 box_load4(__global const uint *source, int x, int y, int width, int height,
                        bool whole) {
  if (whole)
    return (uint16)(box_load(source, x, y, width, height, true),
                    box_load(source, x, y + 1, width, height, true),
                    box_load(source, x, y + 2, width, height, true),
                    box_load(source, x, y + 3, width, height, true));
  return (uint16)(box_load(source, x, y, width, height, false),
                  box_load(source, x, y + 1, width, height, false),
                  box_load(source, x, y + 2, width, height, false),
                  box_load(source, x, y + 3, width, height, false));
}

static void box_store(uint4 pixels, __global uint *row, int x, int width, bool whole) {
  if (whole) {
    *(__global uint4 *)(row + x) = pixels;
  } else {
    row[x] = pixels.x;
    if (x + 1 < width) row[x + 1] = pixels.y;
    if (x + 2 < width) row[x + 2] = pixels.z;
    if (x + 3 < width) row[x + 3] = pixels.w;
  }
}

/* Sums of columns 0 to 3, 1 to 3, 2 and 3, and 3. */
static uint4 box_ends(uint4 columns) {
  const uint two = columns.z + columns.w;
  return (uint4)(columns.x + columns.y + two, columns.y + two, two, columns.w);
}

/* The windows of four pixels, with 32 for rounding, from the ends of three items. */
static uint4 box_windows(uint4 left, uint4 here, uint4 right) {
  const uint both = here.x + right.x + BOX_HALF;
  return (uint4)(left.x + here.x + BOX_HALF, left.y + both - right.y, left.z + both - right.z,
                 left.w + both - right.w);
}

/* The sums of the four columns; outside the image, those of its first or last column. */
static uint4 box_inside(uint4 sums, int x, int width) {
  if (x < 0) return sums.xxxx;
  return x < width ? sums : sums.wwww;
}

/* Four times the columns' sums, of even and of odd channels, once `next` has come and `oldest`
 * gone. */
static uint8 box_slide(uint8 sums, uint4 next, uint4 oldest) {
  const uint8 both = (uint8)(next, oldest);
  const uint8 even = even_lanes(both);
  const uint8 odd = odd_lanes(both);
  return sums + 4u * (uint8)(even.lo, odd.lo) - 4u * (uint8)(even.hi, odd.hi);
}

/* The ends of an item's columns: of even, then of odd channels. */
static uint8 box_item_ends(uint8 sums, int x, int width) {
  return (uint8)(box_ends(box_inside(sums.lo, x, width)), box_ends(box_inside(sums.hi, x, width)));
}

/* Four pixels, from this item's ends and its neighbours'. */
static uint4 box_averages(__local const uint4 (*ends)[BOX_GROUP], uint8 here) {
  const uint item = (uint)get_local_id(0);
  return high_bytes(box_windows(ends[0][item - 1u], here.lo, ends[0][item + 1u]),
                    box_windows(ends[1][item - 1u], here.hi, ends[1][item + 1u]));
}

/* Finishes rows y + place and y + place + 1. */
#define BOX_STEP(place, next0, oldest0, next1, oldest1)                                            \
  do {                                                                                             \
    const uint8 sums0 = box_slide(sums, next0, oldest0);                                           \
    sums = box_slide(sums0, next1, oldest1);                                                       \
    const uint8 ends0 = box_item_ends(sums0, x, width);                                            \
    const uint8 ends1 = box_item_ends(sums, x, width);                                             \
    ends[place][0][item] = ends0.lo;                                                               \
    ends[place][1][item] = ends0.hi;                                                               \
    ends[place + 1][0][item] = ends1.lo;                                                           \
    ends[place + 1][1][item] = ends1.hi;                                                           \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    if (writes && y + (place) < height)                                                            \
      box_store(box_averages(ends[place], ends0), destination + (uint)(y + (place)) * image_width, \
                x, width, whole);                                                                  \
    if (writes && y + (place) + 1 < height)                                                        \
      box_store(box_averages(ends[place + 1], ends1),                                              \
                destination + (uint)(y + (place) + 1) * image_width, x, width, whole);             \
  } while (0)

__kernel __attribute__((reqd_work_group_size(BOX_GROUP, 1, 1))) void box_columns(
    __global const uint *restrict source, __global uint *restrict destination, uint image_width,
    uint image_height) {
  /* Of two rows, while those of two others may still be read. */
  __local uint4 ends[4][2][BOX_GROUP];
  const int width = (int)image_width;
  const int height = (int)image_height;
  const uint item = (uint)get_local_id(0);
  const int x = 4 * (int)((BOX_GROUP - 2) * (uint)get_group_id(0) + item) - 4;
  const bool writes = item != 0u && item != BOX_GROUP - 1 && x < width;
  const bool whole = (width & 3) == 0;
  const uint4 none = (uint4)(0u);
  int y = BOX_ROWS * (int)get_group_id(1);
  const int bottom = min(y + BOX_ROWS, height);

  /* The window of the row above the first. */
  const uint16 above = box_load4(source, x, y - 5, width, height, whole);
  const uint16 below = box_load4(source, x, y - 1, width, height, whole);
  uint8 sums = box_slide((uint8)(0u), above.s0123, none);
  sums = box_slide(sums, above.s4567, none);
  sums = box_slide(sums, above.s89ab, none);
  sums = box_slide(sums, above.scdef, none);
  sums = box_slide(sums, below.s0123, none);
  sums = box_slide(sums, below.s4567, none);
  sums = box_slide(sums, below.s89ab, none);
  sums = box_slide(sums, below.scdef, none);
  for (; y < bottom; y += 4) {
    const uint16 next = box_load4(source, x, y + 3, width, height, whole);
    const uint16 oldest = box_load4(source, x, y - 5, width, height, whole);
    BOX_STEP(0, next.s0123, oldest.s0123, next.s4567, oldest.s4567);
    BOX_STEP(2, next.s89ab, oldest.s89ab, next.scdef, oldest.scdef);
  }
}
