/*
 * gemm_f32.cl's product for CPUs: an item computes ITEM_ROWS rows of 2 * VECTOR columns of C, with
 * no barrier, as a work-group of its own (required). It copies PANEL_DEPTH rows of its columns of B
 * into a panel, which stays in the nearest cache while all its rows of A are multiplied with it,
 * ROWS rows at a time with their sums in registers, and then takes the next panel.
 *
 * The panel is local memory: a GPU would set private memory of that size aside for all the items
 * that it can hold.
 */
#ifndef VECTOR
#define VECTOR 16 /* floats of a vector register */
#endif
#ifndef ROWS
#define ROWS 8 /* 2 * ROWS vectors of sums, and 3 more, are to fit the registers */
#endif
#ifndef ITEM_ROWS
#define ITEM_ROWS 64
#endif
#ifndef PANEL_DEPTH
#define PANEL_DEPTH 256
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FLOATS JOIN(float, VECTOR)
#define LOAD JOIN(vload, VECTOR)
#define STORE JOIN(vstore, VECTOR)
#define COLUMNS (2 * VECTOR)

/* The first `count` elements of a row, and zeros; a count over VECTOR is VECTOR. */
static FLOATS load_part(__global const float *row, uint count) {
  float part[VECTOR];
  uint i;

  if (count >= VECTOR) return LOAD(0, row);
  for (i = 0u; i < VECTOR; ++i) part[i] = i < count ? row[i] : 0.0f;
  return LOAD(0, part);
}

static void store_part(FLOATS v, uint count, __global float *row) {
  float part[VECTOR];
  uint i;

  if (count >= VECTOR) {
    STORE(v, 0, row);
    return;
  }
  STORE(v, 0, part);
  for (i = 0u; i < count; ++i) row[i] = part[i];
}

/* How many of `count` elements are beyond the first vector of a row. */
static uint second(uint count) { return max(count, (uint)VECTOR) - VECTOR; }

/* `count` (at least 1) columns of `depth` rows of B. */
static void fill_panel(__global const float *b, uint width, uint depth, uint count,
                       __local FLOATS *panel) {
  uint k;

  for (k = 0u; k < depth; ++k) {
    panel[2u * k] = load_part(b, count);
    panel[2u * k + 1u] = load_part(b + VECTOR, second(count));
    b += width;
  }
}

/* ROWS rows of C: their sums so far, plus `depth` products each. Rows beyond `rows` (at least 1)
 * read the last one again, and are not stored. */
static void multiply(__global const float *a, uint a_stride, __local const FLOATS *panel,
                     uint depth, __global float *c, uint c_stride, uint rows, uint count,
                     bool first) {
  FLOATS sums[2 * ROWS];
  __global const float *row[ROWS];
  uint k, r;

#pragma unroll
  for (r = 0u; r < ROWS; ++r) {
    row[r] = a + min(r, rows - 1u) * a_stride;
    sums[2u * r] = sums[2u * r + 1u] = (FLOATS)(0.0f);
    if (!first && r < rows) {
      sums[2u * r] = load_part(c + r * c_stride, count);
      sums[2u * r + 1u] = load_part(c + r * c_stride + VECTOR, second(count));
    }
  }
  for (k = 0u; k < depth; ++k) {
    const FLOATS left = panel[2u * k];
    const FLOATS right = panel[2u * k + 1u];
#pragma unroll
    for (r = 0u; r < ROWS; ++r) {
      const FLOATS factor = (FLOATS)(row[r][k]);
      sums[2u * r] += factor * left;
      sums[2u * r + 1u] += factor * right;
    }
  }
#pragma unroll
  for (r = 0u; r < ROWS; ++r) {
    if (r < rows) {
      store_part(sums[2u * r], count, c + r * c_stride);
      store_part(sums[2u * r + 1u], second(count), c + r * c_stride + VECTOR);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_f32_panel(
    __global const float *restrict a, __global const float *restrict b, __global float *restrict c,
    uint width, uint height, uint depth) {
  __local FLOATS panel[2 * PANEL_DEPTH];
  const uint x = COLUMNS * (uint)get_global_id(0);
  const uint top = ITEM_ROWS * (uint)get_global_id(1);
  const uint bottom = min(top + ITEM_ROWS, height);
  uint k, y;

  if (x >= width || top >= height) return;

  for (k = 0u; k < depth; k += PANEL_DEPTH) {
    const uint part = min((uint)PANEL_DEPTH, depth - k);
    fill_panel(b + k * width + x, width, part, width - x, panel);
    for (y = top; y < bottom; y += ROWS) {
      multiply(a + y * depth + k, depth, panel, part, c + y * width + x, width, bottom - y,
               width - x, k == 0u);
    }
  }
}
