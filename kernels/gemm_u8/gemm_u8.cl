/*
 * Product of two matrices of bytes: C = A B, C[y][x] = sum over k of A[y][k] * B[k][x].
 *
 * A holds height rows of depth bytes, C height rows of width uints. B is stored transposed, width
 * rows of depth bytes, so that in both matrices neighbouring k are neighbours in memory. No
 * padding; each is smaller than 2^32 bytes, and they do not overlap. Any width, height and depth
 * from 1 up; beyond a depth of 66051 a sum may not fit the 32 bits. Items outside C do nothing.
 *
 *   gemm_u8_scalar  1 element an item, byte loads
 *   gemm_u8_tiled   4x4 elements an item, 64x64 a work-group of 16x16 (required), through local
 *                   memory, for GPUs that multiply floats faster than ints
 *
 * gemm_u8_block.cl has a variant without local memory, gemm_u8_khr.cl, gemm_u8_qcom.cl and
 * gemm_u8_arm.cl the same one through dot products.
 */
__kernel void gemm_u8_scalar(__global const uchar *restrict a, __global const uchar *restrict b,
                             __global uint *restrict c, uint width, uint height, uint depth) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  uint sum = 0u;
  uint k;

  if (x >= width || y >= height) return;

  a += y * depth;
  b += x * depth;
  for (k = 0u; k < depth; ++k) sum += (uint)a[k] * (uint)b[k];
  c[y * width + x] = sum;
}

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

/* Eight bytes of a row, those from `count` on as zeros. */
static float8 load_eight(__global const uchar *bytes, uint count, bool aligned) {
  uchar8 v = (uchar8)(0);

  if (count >= 8u) {
    if (aligned) return convert_float8(as_uchar8(*(__global const uint2 *)bytes));
    return convert_float8(vload8(0, bytes));
  }
  if (count > 0u) v.s0 = bytes[0];
  if (count > 1u) v.s1 = bytes[1];
  if (count > 2u) v.s2 = bytes[2];
  if (count > 3u) v.s3 = bytes[3];
  if (count > 4u) v.s4 = bytes[4];
  if (count > 5u) v.s5 = bytes[5];
  if (count > 6u) v.s6 = bytes[6];
  return convert_float8(v);
}

/* One item's share of a tile: eight bytes of one of 64 rows, from k on. */
static void stage_share(__global const uchar *m, uint first_row, uint rows, uint k, uint depth,
                        __local float *tile) {
  const uint share = 16u * (uint)get_local_id(1) + (uint)get_local_id(0);
  const uint row = share / 4u;
  const uint own = 8u * (share % 4u);
  const uint from = k + own;
  const uint count = first_row + row < rows && from < depth ? depth - from : 0u;
  const float8 v = load_eight(m + ((first_row + row) * depth + from), count, depth % 8u == 0u);

  tile += 4u * tile_place(row / 4u, own) + row % 4u;
  tile[0] = v.s0;
  tile[4u * STRIDE] = v.s1;
  tile[8u * STRIDE] = v.s2;
  tile[12u * STRIDE] = v.s3;
  tile[16u * STRIDE] = v.s4;
  tile[20u * STRIDE] = v.s5;
  tile[24u * STRIDE] = v.s6;
  tile[28u * STRIDE] = v.s7;
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
  float4 part[4] = {(float4)(0.0f), (float4)(0.0f), (float4)(0.0f), (float4)(0.0f)};
  uint4 sums[4] = {(uint4)(0u), (uint4)(0u), (uint4)(0u), (uint4)(0u)};
  uint k;
  uint i;

  for (k = 0u; k < depth; k += STEP) {
    stage_share(a, y - 4u * ly, height, k, depth, (__local float *)a_tile);
    stage_share(b, x - 4u * lx, width, k, depth, (__local float *)b_tile);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (i = 0u; i < STEP; ++i) {
      const float4 column = a_tile[tile_place(ly, i)];
      const float4 row = b_tile[tile_place(lx, i)];
      part[0] += column.x * row;
      part[1] += column.y * row;
      part[2] += column.z * row;
      part[3] += column.w * row;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((k + STEP) % EXACT == 0u || k + STEP >= depth) {
      for (i = 0u; i < 4u; ++i) {
        sums[i] += convert_uint4(part[i]);
        part[i] = (float4)(0.0f);
      }
    }
  }

  if (x >= width) return;
  c += y * width + x;
  if (y < height) store_row(sums[0], width - x, c);
  if (y + 1u < height) store_row(sums[1], width - x, c + width);
  if (y + 2u < height) store_row(sums[2], width - x, c + 2u * width);
  if (y + 3u < height) store_row(sums[3], width - x, c + 3u * width);
}
