/*
 * gemm_f32.cl's product for GPUs: a work-group computes a tile of C, and each of its items
 * ITEM_ROWS x ITEM_COLUMNS elements of it, from tiles of A and B in local memory. While it
 * multiplies one pair of tiles, the next is on its way into registers.
 *
 * With SLICES, that many items compute the same elements, each for its share of a tile's depth, and
 * add them up in the end: that keeps a GPU busy where C has few tiles.
 *
 * With HALF the elements of A and B are halves, and everything else is as with floats: that needs
 * no cl_khr_fp16.
 *
 * Work-groups have (TILE_COLUMNS / ITEM_COLUMNS, TILE_ROWS / ITEM_ROWS, SLICES) items, required.
 */
#ifndef TILE_COLUMNS
#define TILE_COLUMNS 128
#endif
#ifndef TILE_DEPTH
#define TILE_DEPTH 8 /* k at a time */
#endif
#ifndef SLICES
#define SLICES 1
#endif
#ifndef BUFFERS
#define BUFFERS 2 /* pairs of tiles in local memory: with 2 a step has one barrier, with 1 two */
#endif
#define TILE_ROWS 128 /* of C a work-group */
#define ITEM_ROWS 8   /* of C an item */
#define ITEM_COLUMNS 8
#define SUMS_AT_ONCE 4 /* float4 that each slice hands to the first between two barriers */
#define LANES 8        /* neighbours in x among the items of one row of a sub-group */

#ifdef HALF
#define ELEMENT half
#define LOAD(from) vload_half(0, from)
#define LOAD4(from) load_half4(from)
#else
#define ELEMENT float
#define LOAD(from) (*(from))
#define LOAD4(from) (*(__global const float4 *)(from)) /* aligned to its size */
#endif

#define ITEMS_X (TILE_COLUMNS / ITEM_COLUMNS)
#define ITEMS_Y (TILE_ROWS / ITEM_ROWS)
#define SLICE_ITEMS (ITEMS_X * ITEMS_Y)
#define ITEMS (SLICE_ITEMS * SLICES)
#define A_LOADS (TILE_ROWS * TILE_DEPTH / 4 / ITEMS) /* float4 that an item loads for a tile */
#define B_LOADS (TILE_COLUMNS * TILE_DEPTH / 4 / ITEMS)
#define ROW_BLOCKS (ITEM_ROWS / 4)
#define COLUMN_BLOCKS (ITEM_COLUMNS / 4)
#define SUMS (ITEM_ROWS * COLUMN_BLOCKS) /* float4 of C an item */
#define SUB_GROUP_ROWS (32 / LANES)
/* Between one k and the next in A's tile: the 4 more keep the banks of store_a() apart. */
#define A_STRIDE (TILE_ROWS + 4)
#define A_TILE (A_STRIDE * TILE_DEPTH)
#define B_TILE (TILE_COLUMNS * TILE_DEPTH)

#ifdef HALF
/* Four aligned halves, by one load: vloada_half4 is four of two bytes in some libraries. */
static float4 load_half4(__global const half *from) {
  const ushort4 bits = *(__global const ushort4 *)from;

  return vload_half4(0, (const __private half *)&bits);
}
#endif

/* Four elements of a row from `at` on, zeros from `end` (at least 1) on. */
static float4 load_rest(__global const ELEMENT *row, uint at, uint end) {
  const uint4 i = at + (uint4)(0u, 1u, 2u, 3u);
  const uint4 in = min(i, (uint4)(end - 1u));

  return select((float4)(0.0f),
                (float4)(LOAD(row + in.x), LOAD(row + in.y), LOAD(row + in.z), LOAD(row + in.w)),
                i < (uint4)(end));
}

/* An item's part of the tile of A from column `k` on; rows beyond A are the last one again. */
static void load_a(__global const ELEMENT *a, uint y, uint k, uint height, uint depth, bool whole,
                   uint item, __private float4 *out) {
  uint j;

#pragma unroll
  for (j = 0u; j < A_LOADS; ++j) {
    const uint i = item + j * ITEMS;
    const uint row = min(y + i / (TILE_DEPTH / 4), height - 1u);
    const uint at = k + i % (TILE_DEPTH / 4) * 4u;
    out[j] = whole ? LOAD4(a + row * depth + at) : load_rest(a + row * depth, at, depth);
  }
}

/* An item's part of the tile of B from row `k` on; rows beyond B are zeros. */
static void load_b(__global const ELEMENT *b, uint x, uint k, uint width, uint depth, bool whole,
                   uint item, __private float4 *out) {
  uint j;

#pragma unroll
  for (j = 0u; j < B_LOADS; ++j) {
    const uint i = item + j * ITEMS;
    const uint row = k + i / (TILE_COLUMNS / 4);
    const uint at = x + i % (TILE_COLUMNS / 4) * 4u;
    if (whole) {
      out[j] = LOAD4(b + row * width + min(at, width - 4u));
    } else {
      const float4 v = load_rest(b + min(row, depth - 1u) * width, at, width);
      out[j] = row < depth ? v : (float4)(0.0f);
    }
  }
}

/* The tile of A lies with its columns as rows, so that an item reads four rows of a k at once. */
static void store_a(const __private float4 *v, uint item, __local float *tile) {
  uint j;

#pragma unroll
  for (j = 0u; j < A_LOADS; ++j) {
    const uint i = item + j * ITEMS;
    __local float *at = tile + i % (TILE_DEPTH / 4) * 4u * A_STRIDE + i / (TILE_DEPTH / 4);
    at[0] = v[j].x;
    at[A_STRIDE] = v[j].y;
    at[2 * A_STRIDE] = v[j].z;
    at[3 * A_STRIDE] = v[j].w;
  }
}

static void store_b(const __private float4 *v, uint item, __local float4 *tile) {
  uint j;

#pragma unroll
  for (j = 0u; j < B_LOADS; ++j) tile[item + j * ITEMS] = v[j];
}

/* Adds the products of a slice of two tiles to an item's sums; both start at the item's own. */
static void multiply(__local const float4 *a_tile, __local const float4 *b_tile,
                     __private float4 *sums) {
  uint k;

#pragma unroll
  for (k = 0u; k < TILE_DEPTH / SLICES; ++k) {
    float4 row[COLUMN_BLOCKS];
    uint i, j;

#pragma unroll
    for (j = 0u; j < COLUMN_BLOCKS; ++j) {
      row[j] = b_tile[k * (TILE_COLUMNS / 4) + j * (TILE_COLUMNS / 4 / COLUMN_BLOCKS)];
    }
#pragma unroll
    for (i = 0u; i < ROW_BLOCKS; ++i) {
      const float4 column = a_tile[k * (A_STRIDE / 4) + i * (TILE_ROWS / 4 / ROW_BLOCKS)];
#pragma unroll
      for (j = 0u; j < COLUMN_BLOCKS; ++j) {
        __private float4 *sum = sums + 4u * i * COLUMN_BLOCKS + j;
        sum[0] += column.x * row[j];
        sum[COLUMN_BLOCKS] += column.y * row[j];
        sum[2 * COLUMN_BLOCKS] += column.z * row[j];
        sum[3 * COLUMN_BLOCKS] += column.w * row[j];
      }
    }
  }
}

#if SLICES > 1
/* Adds the sums of the other slices to those of the first, so many at a time as there is room. */
static void add_slices(__private float4 *sums, uint slice, uint item, __local float4 *room) {
  uint done, n, s;

#pragma unroll
  for (done = 0u; done < SUMS; done += SUMS_AT_ONCE) {
    if (slice != 0u) {
#pragma unroll
      for (n = 0u; n < SUMS_AT_ONCE; ++n) {
        room[((slice - 1u) * SUMS_AT_ONCE + n) * SLICE_ITEMS + item] = sums[done + n];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice == 0u) {
#pragma unroll
      for (s = 0u; s < SLICES - 1; ++s) {
#pragma unroll
        for (n = 0u; n < SUMS_AT_ONCE; ++n) {
          sums[done + n] += room[(s * SUMS_AT_ONCE + n) * SLICE_ITEMS + item];
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif

/* Those of four elements that a row of C has, from column `x` on. */
static void store_row(float4 sum, uint x, uint width, __global float *c) {
  if (x + 4u <= width) {
    if (width % 4u == 0u) {
      *(__global float4 *)(c + x) = sum;
    } else {
      vstore4(sum, 0, c + x);
    }
    return;
  }
  if (x < width) c[x] = sum.x;
  if (x + 1u < width) c[x + 1u] = sum.y;
  if (x + 2u < width) c[x + 2u] = sum.z;
}

/* An item's elements, which start at (x, y): blocks of 4x4 that lie apart. */
static void store(const __private float4 *sums, uint x, uint y, uint width, uint height,
                  __global float *c) {
  uint i, j;

#pragma unroll
  for (i = 0u; i < ITEM_ROWS; ++i) {
    const uint row = y + i / 4u * (TILE_ROWS / ROW_BLOCKS) + i % 4u;
#pragma unroll
    for (j = 0u; j < COLUMN_BLOCKS; ++j) {
      if (row < height) {
        store_row(sums[i * COLUMN_BLOCKS + j], x + j * (TILE_COLUMNS / COLUMN_BLOCKS), width,
                  c + row * width);
      }
    }
  }
}

__kernel __attribute__((reqd_work_group_size(ITEMS_X, ITEMS_Y, SLICES))) void gemm_tiled(
    __global const ELEMENT *restrict a, __global const ELEMENT *restrict b,
    __global float *restrict c, uint width, uint height, uint depth) {
  __local float4 tiles[BUFFERS * (A_TILE + B_TILE) / 4];
  const uint tile_x = TILE_COLUMNS * (uint)get_group_id(0);
  const uint tile_y = TILE_ROWS * (uint)get_group_id(1);
  const uint all =
      (uint)get_local_id(0) + ITEMS_X * ((uint)get_local_id(1) + ITEMS_Y * (uint)get_local_id(2));
  const uint item = all % SLICE_ITEMS;
  const uint slice = all / SLICE_ITEMS;
  /* The items of a sub-group are a block of the tile: they read fewer different floats so. */
  const uint sub_group = item / 32u;
  const uint lx = sub_group % (ITEMS_X / LANES) * LANES + item % LANES;
  const uint ly = sub_group / (ITEMS_X / LANES) * SUB_GROUP_ROWS + item % 32u / LANES;
  const bool vectors = width % 4u == 0u && depth % 4u == 0u;
  float4 sums[SUMS];
  float4 a_next[A_LOADS];
  float4 b_next[B_LOADS];
  uint place = 0u; /* of the pair of tiles that is multiplied */
  uint k;

#pragma unroll
  for (k = 0u; k < SUMS; ++k) sums[k] = (float4)(0.0f);

  load_a(a, tile_y, 0u, height, depth, vectors && TILE_DEPTH <= depth, all, a_next);
  load_b(b, tile_x, 0u, width, depth, vectors && TILE_DEPTH <= depth, all, b_next);
  store_a(a_next, all, (__local float *)tiles);
  store_b(b_next, all, tiles + A_TILE / 4);
  barrier(CLK_LOCAL_MEM_FENCE);

  for (k = 0u; k < depth; k += TILE_DEPTH) {
    const uint next = k + TILE_DEPTH;
    const bool whole = vectors && next + TILE_DEPTH <= depth;

    if (next < depth) {
      load_a(a, tile_y, next, height, depth, whole, all, a_next);
      load_b(b, tile_x, next, width, depth, whole, all, b_next);
    }
    multiply(tiles + place + slice * (TILE_DEPTH / SLICES) * (A_STRIDE / 4) + ly,
             tiles + place + A_TILE / 4 + slice * (TILE_DEPTH / SLICES) * (TILE_COLUMNS / 4) + lx,
             sums);
#if BUFFERS == 1
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    place = (A_TILE + B_TILE) / 4 - place;
#endif
    if (next < depth) {
      store_a(a_next, all, (__local float *)(tiles + place));
      store_b(b_next, all, tiles + place + A_TILE / 4);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#if SLICES > 1
  add_slices(sums, slice, item, tiles);
  if (slice != 0u) return;
#endif
  store(sums, tile_x + 4u * lx, tile_y + 4u * ly, width, height, c);
}
