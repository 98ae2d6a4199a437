/*
 * 8x8 box blur of an 8-bit image of four channels. Buffer variant.
 *
 *   out = (sum of the 64 pixels from (x - 4, y - 4) to (x + 3, y + 3), coordinates clamped to
 *          the image, + 32) >> 6, per channel
 *
 * Both images hold height rows of width pixels of four bytes with no padding, fewer than 2^32
 * bytes, start at a multiple of 16 bytes as buffer objects do, and do not overlap. Any width and
 * height from 1 up. Dimension 0 of the NDRange counts groups of 4 pixels along x, dimension 1
 * strips of BOX_ROWS rows; items outside the image do nothing.
 *
 *   box_separable  4 pixels by BOX_ROWS rows an item, 16-byte loads; exact
 *
 * An item slides down its strip. It makes each row's sums of eight pixels once and keeps the last
 * eight rows' in registers: a column's sum loses the oldest and gains the newest. A strip reads
 * BOX_ROWS + 7 rows, so the input is read from memory about once. The variants through images are
 * in box_image.cl.
 *
 * Arithmetic. Two channels share a uint, as 16-bit lanes: 0 and 2, or 1 and 3. A sum is at most
 * 64 * 255 + 32 = 16352, which fits a lane. Differences may borrow between lanes on the way; the
 * uint as a whole is right modulo 2^32, and so are its lanes once each is in range.
 */

#define BOX_ROWS 32 /* a multiple of 8; fewer are more items, more are fewer rows read twice */

#define BOX_LANES ((uint4)(0x00ff00ffu))

/*
 * Pixels x - 4 to x + 7 of a row, clamped to it; the last lanes are unspecified. `aligned` says
 * that the width, and with it every row's start, is a multiple of four pixels.
 */
static uint16 box_load(__global const uint *row, uint x, uint width, bool aligned) {
  const uint last = width - 1u;
  uint4 before;
  uint4 here;
  uint4 after;

  if (aligned) {
    before = *(__global const uint4 *)(row + (max(x, 4u) - 4u));
    here = *(__global const uint4 *)(row + x);
    after = *(__global const uint4 *)(row + min(x + 4u, width - 4u));
    if (x == 0u) before = before.xxxx;
    if (x + 4u >= width) after = after.wwww;
  } else {
    before.x = row[max(x, 4u) - 4u];
    before.y = row[min(max(x, 3u) - 3u, last)];
    before.z = row[min(max(x, 2u) - 2u, last)];
    before.w = row[min(max(x, 1u) - 1u, last)];
    here.x = row[x];
    here.y = row[min(x + 1u, last)];
    here.z = row[min(x + 2u, last)];
    here.w = row[min(x + 3u, last)];
    after.x = row[min(x + 4u, last)];
    after.y = row[min(x + 5u, last)];
    after.z = row[min(x + 6u, last)];
    after.w = 0u;
  }
  return (uint16)(before, here, after, after);
}

/* Sums of eight pixels for each of the four in `here`, of lanes that hold one channel each. */
static uint4 box_lane_sums(uint4 before, uint4 here, uint4 after) {
  uint4 sums;

  sums.x = before.x + before.y + before.z + before.w + here.x + here.y + here.z + here.w;
  sums.y = sums.x - before.x + after.x;
  sums.z = sums.y - before.y + after.y;
  sums.w = sums.z - before.z + after.z;
  return sums;
}

/* A row's sums for the item's four pixels: of channels 0 and 2, then of channels 1 and 3. */
static uint8 box_row_sums(uint16 pixels) {
  const uint4 before = pixels.s0123;
  const uint4 here = pixels.s4567;
  const uint4 after = pixels.s89ab;

  return (uint8)(box_lane_sums(before & BOX_LANES, here & BOX_LANES, after & BOX_LANES),
                 box_lane_sums((before >> 8u) & BOX_LANES, (here >> 8u) & BOX_LANES,
                               (after >> 8u) & BOX_LANES));
}

/* Stores the averages of the window sums, each with its 32 for rounding, at column x of `row`. */
static void box_store(uint8 sums, __global uint *row, uint x, uint width, bool aligned) {
  const uint4 pixels = ((sums.lo >> 6u) & BOX_LANES) | ((sums.hi << 2u) & ~BOX_LANES);

  if (aligned) {
    *(__global uint4 *)(row + x) = pixels;
  } else {
    row[x] = pixels.x;
    if (x + 1u < width) row[x + 1u] = pixels.y;
    if (x + 2u < width) row[x + 2u] = pixels.z;
    if (x + 3u < width) row[x + 3u] = pixels.w;
  }
}

/* Takes the sums of the row that was loaded a step ago, and loads the one after it. */
#define BOX_NEXT_ROW(sums)                                                            \
  const uint8 sums = box_row_sums(loaded);                                            \
  loaded = box_load(source + (uint)clamp(below, 0, last) * width, x, width, aligned); \
  ++below

/* Fills a place of the ring before the first row of the strip. */
#define BOX_FILL(place) \
  do {                  \
    BOX_NEXT_ROW(sums); \
    ring[place] = sums; \
    window += sums;     \
  } while (0)

/* Finishes row y + place: the new row takes the place of the one that leaves the window. */
#define BOX_STEP(place)                                                          \
  do {                                                                           \
    BOX_NEXT_ROW(sums);                                                          \
    window += sums - ring[place];                                                \
    ring[place] = sums;                                                          \
    if (y + (place) < bottom)                                                    \
      box_store(window, destination + (y + (place)) * width, x, width, aligned); \
  } while (0)

static void box_strip(__global const uint *restrict source, __global uint *restrict destination,
                      uint width, uint height, uint x, uint top, bool aligned) {
  const uint bottom = min(top + BOX_ROWS, height);
  const int last = (int)min(bottom + 2u, height - 1u); /* the last row that is needed */
  int below = (int)top - 4;
  uint16 loaded = box_load(source + (uint)max(below, 0) * width, x, width, aligned);
  uint8 window = (uint8)(0x00200020u);
  uint8 ring[8];
  uint y;

  ++below;
  ring[0] = (uint8)(0u);
  BOX_FILL(1);
  BOX_FILL(2);
  BOX_FILL(3);
  BOX_FILL(4);
  BOX_FILL(5);
  BOX_FILL(6);
  BOX_FILL(7);
  for (y = top; y < bottom; y += 8u) {
    BOX_STEP(0);
    BOX_STEP(1);
    BOX_STEP(2);
    BOX_STEP(3);
    BOX_STEP(4);
    BOX_STEP(5);
    BOX_STEP(6);
    BOX_STEP(7);
  }
}

__kernel void box_separable(__global const uint *restrict source,
                            __global uint *restrict destination, uint width, uint height) {
  const uint x = 4u * (uint)get_global_id(0);
  const uint top = BOX_ROWS * (uint)get_global_id(1);

  if (x >= width || top >= height) return;

  /* Two copies, so that neither has branches between its loads. */
  if ((width & 3u) == 0u)
    box_strip(source, destination, width, height, x, top, true);
  else
    box_strip(source, destination, width, height, x, top, false);
}
