/*
 * Product of two matrices of bytes, as gemm_int.cl has it with GEMM_U8; beyond a depth of 66051 a
 * sum may not fit the 32 bits.
 *
 *   gemm_u8_tiled  4x4 elements an item, 64x64 a work-group of 16x16 (required), through local
 *                  memory, for GPUs that multiply floats faster than ints
 */
#define TILE 64u   /* rows and columns of C a work-group */
#define STEP 32u   /* k at a time */
#define STRIDE 16u /* float4 between one k and the next in local memory */
/* So many k add up to less than 2^24 (255 * 255 * 256 does), which a float holds exactly. */
#define EXACT 256u

/*
 * Where four neighbouring rows of a k are in a tile. Each eight k have their own order of the
 * rows, so that the items of stage_share that write at the same time write to different banks.
 */
static uint tile_place(uint four_rows, uint k) { return k * STRIDE + (four_rows ^ (k / 8u * 2u)); }

static uchar8 load_eight(__global const uchar *row, uint k, bool aligned) {
  return aligned ? as_uchar8(*(__global const uint2 *)(row + k)) : vload8(0, row + k);
}

/* Eight bytes of a row from k on, with zeros where the row has ended. */
static uchar8 load_rest(__global const uchar *row, uint k, uint depth) {
  const uint8 at = k + (uint8)(0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u);
  const uint8 in = min(at, (uint8)(depth - 1u));
  const uchar8 v = (uchar8)(row[in.s0], row[in.s1], row[in.s2], row[in.s3], row[in.s4], row[in.s5],
                            row[in.s6], row[in.s7]);

  return v & convert_uchar8(as_uint8(at < (uint8)(depth)) & 255u);
}

/* Puts eight k of one row, `k` of the tile and on, into it. */
static void stage(uchar8 bytes, uint row, uint k, __local float *tile) {
  const float8 v = convert_float8(bytes);

  tile += 4u * tile_place(row / 4u, k) + row % 4u;
  tile[0] = v.s0;
  tile[4u * STRIDE] = v.s1;
  tile[8u * STRIDE] = v.s2;
  tile[12u * STRIDE] = v.s3;
  tile[16u * STRIDE] = v.s4;
  tile[20u * STRIDE] = v.s5;
  tile[24u * STRIDE] = v.s6;
  tile[28u * STRIDE] = v.s7;
}

/* Adds the products of the two tiles to an item's sums. */
static void multiply(__local const float4 *a_tile, __local const float4 *b_tile, uint lx, uint ly,
                     __private float4 *part) {
  uint k;

  for (k = 0u; k < STEP; ++k) {
    const float4 column = a_tile[tile_place(ly, k)];
    const float4 row = b_tile[tile_place(lx, k)];
    part[0] += column.x * row;
    part[1] += column.y * row;
    part[2] += column.z * row;
    part[3] += column.w * row;
  }
}

static void flush(__private float4 *part, __private uint4 *sums) {
  sums[0] += convert_uint4(part[0]);
  sums[1] += convert_uint4(part[1]);
  sums[2] += convert_uint4(part[2]);
  sums[3] += convert_uint4(part[3]);
  part[0] = part[1] = part[2] = part[3] = (float4)(0.0f);
}

/* `count` (at least 1) elements of a row of C, four at most. */
static void store_row(uint4 sum, uint count, __global uint *c) {
  if (count >= 4u) {
    vstore4(sum, 0, c);
    return;
  }
  c[0] = sum.x;
  if (count > 1u) c[1] = sum.y;
  if (count > 2u) c[2] = sum.z;
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void gemm_u8_tiled(
    __global const uchar *restrict a, __global const uchar *restrict b, __global uint *restrict c,
    uint width, uint height, uint depth) {
  __local float4 a_tile[STEP * STRIDE];
  __local float4 b_tile[STEP * STRIDE];
  const uint lx = (uint)get_local_id(0);
  const uint ly = (uint)get_local_id(1);
  const uint x = TILE * (uint)get_group_id(0) + 4u * lx;
  const uint y = TILE * (uint)get_group_id(1) + 4u * ly;
  /* An item stages eight k of one of the 64 rows of A and of B: the last row for those beyond. */
  const uint row = (16u * ly + lx) / 4u;
  const uint own = lx % 4u * 8u;
  const bool aligned = depth % 8u == 0u;
  float4 part[4] = {(float4)(0.0f), (float4)(0.0f), (float4)(0.0f), (float4)(0.0f)};
  uint4 sums[4] = {(uint4)(0u), (uint4)(0u), (uint4)(0u), (uint4)(0u)};
  uint k;

  a += min(y - 4u * ly + row, height - 1u) * depth;
  b += min(x - 4u * lx + row, width - 1u) * depth;
  for (k = 0u; k + STEP <= depth; k += STEP) {
    if (k % EXACT == 0u) flush(part, sums);
    stage(load_eight(a, k + own, aligned), row, own, (__local float *)a_tile);
    stage(load_eight(b, k + own, aligned), row, own, (__local float *)b_tile);
    barrier(CLK_LOCAL_MEM_FENCE);
    multiply(a_tile, b_tile, lx, ly, part);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  flush(part, sums);
  if (k < depth) {
    stage(load_rest(a, k + own, depth), row, own, (__local float *)a_tile);
    stage(load_rest(b, k + own, depth), row, own, (__local float *)b_tile);
    barrier(CLK_LOCAL_MEM_FENCE);
    multiply(a_tile, b_tile, lx, ly, part);
    flush(part, sums);
  }

  if (x >= width) return;
  c += y * width + x;
  if (y < height) store_row(sums[0], width - x, c);
  if (y + 1u < height) store_row(sums[1], width - x, c + width);
  if (y + 2u < height) store_row(sums[2], width - x, c + 2u * width);
  if (y + 3u < height) store_row(sums[3], width - x, c + 3u * width);
}
