/*
 * Product of two matrices of integers into 32 bits: C = A B, C[y][x] = sum over k of
 * A[y][k] * B[k][x]. What the elements of A and B are says one of
 *
 *   GEMM_U8   unsigned bytes; C has uints, modulo 2^32
 *   GEMM_S16  shorts; C has ints, modulo 2^32
 *   GEMM_S8   signed bytes; C has ints, and an argument `bias`. Sums saturate:
 *               sum = bias
 *               for k = 0, 4, 8, ...
 *                 sum = clamp(sum + A[y][k] B[k][x] + ... + A[y][k + 3] B[k + 3][x], INT_MIN,
 * INT_MAX) where products behind the depth are 0: what the vendors' saturating dot products do
 *   GEMM_SU8  besides GEMM_S8: A has signed bytes, B unsigned ones
 *
 * A holds height rows of depth elements, C height rows of width elements. B is stored transposed,
 * width rows of depth elements, so that in both matrices neighbouring k are neighbours in memory.
 * No padding; each is smaller than 2^32 bytes, and they do not overlap. Any width, height and depth
 * from 1 up. Items outside C do nothing.
 *
 *   gemm_scalar  1 element an item
 *   gemm_block   4x4 elements an item, by dot products of four bytes or two shorts: of any device,
 *                or with GEMM_KHR, GEMM_QCOM or GEMM_ARM through the built-ins of
 *                cl_khr_integer_dot_product, cl_qcom_dot_product8, cl_arm_integer_dot_product_*
 *
 * Sums are uint here: one of ints that does not fit has no meaning in C.
 */
#if defined(GEMM_U8)
#define ELEMENT uchar
#elif defined(GEMM_S8)
#define ELEMENT char
#else
#define ELEMENT short
#endif

#ifdef GEMM_SU8
#define B_ELEMENT uchar
#else
#define B_ELEMENT ELEMENT
#endif

#ifdef GEMM_S8
#define BIAS_ARGUMENT , int bias
#define BIAS as_uint(bias)
#else
#define BIAS_ARGUMENT
#define BIAS 0u
#endif

#if defined(GEMM_U8) && defined(GEMM_QCOM)
#define LEAST 0x80000000u /* what sums begin with; see below */
#else
#define LEAST 0u
#endif

/*
 * dot_acc(a, b, sum): sum + the dot product of the word a of A and the word b of B, the first k in
 * its lowest bits. Words come in order of k, and zeros stand for what is behind the depth.
 */
#if defined(GEMM_KHR)
static uint dot_acc(uint a, uint b, uint sum) {
#ifdef GEMM_U8
  return sum + dot_4x8packed_uu_uint(a, b);
#elif defined(GEMM_SU8)
  return as_uint(dot_acc_sat_4x8packed_su_int(a, b, as_int(sum)));
#else
  return as_uint(dot_acc_sat_4x8packed_ss_int(a, b, as_int(sum)));
#endif
}

#elif defined(GEMM_QCOM)
#ifdef cl_qcom_dot_product8
#pragma OPENCL EXTENSION cl_qcom_dot_product8 : enable
#endif

/*
 * qcom_udot8_acc adds to an int and saturates, so the sums of GEMM_U8 start from the least int:
 * they reach the largest one only where C's 32 bits are full too.
 *
 * qcom_dot8_acc's first operand is signed, the second is not, as GEMM_SU8 has them. For GEMM_S8,
 * with b' = b + 128, which is unsigned, a . b = a . b' - 128 sum(a). A block's four columns share
 * sum(a).
 */
static uint dot_acc(uint a, uint b, uint sum) {
#ifdef GEMM_U8
  return as_uint(qcom_udot8_acc(a, b, as_int(sum)));
#elif defined(GEMM_SU8)
  return as_uint(qcom_dot8_acc(a, b, as_int(sum)));
#else
  const int sum_of_a = qcom_dot8_acc(a, 0x01010101u, 0);
  const int part = qcom_dot8_acc(a, b ^ 0x80808080u, -128 * sum_of_a);
  return as_uint(add_sat(as_int(sum), part));
#endif
}

#elif defined(GEMM_ARM)
#ifdef cl_arm_integer_dot_product_accumulate_int8
#pragma OPENCL EXTENSION cl_arm_integer_dot_product_accumulate_int8 : enable
#endif
#ifdef cl_arm_integer_dot_product_accumulate_int16
#pragma OPENCL EXTENSION cl_arm_integer_dot_product_accumulate_int16 : enable
#endif
#ifdef cl_arm_integer_dot_product_accumulate_saturate_int8
#pragma OPENCL EXTENSION cl_arm_integer_dot_product_accumulate_saturate_int8 : enable
#endif

static uint dot_acc(uint a, uint b, uint sum) {
#if defined(GEMM_U8)
  return arm_dot_acc(as_uchar4(a), as_uchar4(b), sum);
#elif defined(GEMM_S8)
  return as_uint(arm_dot_acc_sat(as_char4(a), as_char4(b), as_int(sum)));
#else
  return as_uint(arm_dot_acc(as_short2(a), as_short2(b), as_int(sum)));
#endif
}

#else
static uint dot_acc(uint a, uint b, uint sum) {
#if defined(GEMM_U8)
  const ushort4 products = convert_ushort4(as_uchar4(a)) * convert_ushort4(as_uchar4(b));
  return sum + products.x + products.y + products.z + products.w;
#elif defined(GEMM_S8)
#ifdef GEMM_SU8
  const int4 products = convert_int4(as_char4(a)) * convert_int4(as_uchar4(b));
#else
  const int4 products = convert_int4(as_char4(a)) * convert_int4(as_char4(b));
#endif
  return as_uint(add_sat(as_int(sum), (products.x + products.y) + (products.z + products.w)));
#else
  const int2 products = convert_int2(as_short2(a)) * convert_int2(as_short2(b));
  return sum + as_uint(products.x) + as_uint(products.y);
#endif
}
#endif

__kernel void gemm_scalar(__global const ELEMENT *restrict a, __global const B_ELEMENT *restrict b,
                          __global uint *restrict c, uint width, uint height,
                          uint depth BIAS_ARGUMENT) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  uint sum = 0u;
  uint k;

  if (x >= width || y >= height) return;

  a += y * depth;
  b += x * depth;
#ifdef GEMM_S8
  int total = bias;
  for (k = 0u; k < depth; k += 4u) {
    int part = 0;
    uint i;
    for (i = k; i < min(k + 4u, depth); ++i) part += (int)a[i] * (int)b[i];
    total = add_sat(total, part);
  }
  sum = as_uint(total);
#else
  for (k = 0u; k < depth; ++k) sum += (uint)((int)a[k] * (int)b[k]);
#endif
  c[y * width + x] = sum;
}

static uint4 dot_row(uint a, uint4 b, uint4 sum) {
  return (uint4)(dot_acc(a, b.x, sum.x), dot_acc(a, b.y, sum.y), dot_acc(a, b.z, sum.z),
                 dot_acc(a, b.w, sum.w));
}

/* Four bytes of each of four rows of A and of B. */
static void dot_step(uint4 a, uint4 b, __private uint4 *sums) {
  sums[0] = dot_row(a.x, b, sums[0]);
  sums[1] = dot_row(a.y, b, sums[1]);
  sums[2] = dot_row(a.z, b, sums[2]);
  sums[3] = dot_row(a.w, b, sums[3]);
}

static uint load4(__global const uchar *bytes) { return as_uint(vload4(0, bytes)); }

/* Four bytes, those from `count` on as zeros. */
static uint load_part(__global const uchar *bytes, uint count) {
  return as_uint((uchar4)(bytes[0], count > 1u ? bytes[1] : 0, count > 2u ? bytes[2] : 0, 0));
}

/* `rows` are the offsets of four rows. */
static uint4 load_step(__global const uchar *m, uint4 rows) {
  return (uint4)(load4(m + rows.x), load4(m + rows.y), load4(m + rows.z), load4(m + rows.w));
}

static uint4 load_last_step(__global const uchar *m, uint4 rows, uint count) {
  return (uint4)(load_part(m + rows.x, count), load_part(m + rows.y, count),
                 load_part(m + rows.z, count), load_part(m + rows.w, count));
}

/* Sixteen bytes of each of the rows; m and the offsets are multiples of 16. */
static void dot_16(__global const uchar *a, uint4 a_rows, __global const uchar *b, uint4 b_rows,
                   __private uint4 *sums) {
  const uint4 a0 = *(__global const uint4 *)(a + a_rows.x);
  const uint4 a1 = *(__global const uint4 *)(a + a_rows.y);
  const uint4 a2 = *(__global const uint4 *)(a + a_rows.z);
  const uint4 a3 = *(__global const uint4 *)(a + a_rows.w);
  const uint4 b0 = *(__global const uint4 *)(b + b_rows.x);
  const uint4 b1 = *(__global const uint4 *)(b + b_rows.y);
  const uint4 b2 = *(__global const uint4 *)(b + b_rows.z);
  const uint4 b3 = *(__global const uint4 *)(b + b_rows.w);

  dot_step((uint4)(a0.x, a1.x, a2.x, a3.x), (uint4)(b0.x, b1.x, b2.x, b3.x), sums);
  dot_step((uint4)(a0.y, a1.y, a2.y, a3.y), (uint4)(b0.y, b1.y, b2.y, b3.y), sums);
  dot_step((uint4)(a0.z, a1.z, a2.z, a3.z), (uint4)(b0.z, b1.z, b2.z, b3.z), sums);
  dot_step((uint4)(a0.w, a1.w, a2.w, a3.w), (uint4)(b0.w, b1.w, b2.w, b3.w), sums);
}

/* `count` (1 to 4) elements of C. */
static void store_row(uint4 sum, uint count, __global uint *c) {
  if (count >= 4u) {
    vstore4(sum, 0, c);
    return;
  }
  c[0] = sum.x;
  if (count > 1u) c[1] = sum.y;
  if (count > 2u) c[2] = sum.z;
}

/*
 * Blocks at the right and lower edge read the last row of A or B again instead of one that is not
 * there, and store only the elements that C has.
 */
__kernel void gemm_block(__global const uchar *restrict a, __global const uchar *restrict b,
                         __global uint *restrict c, uint width, uint height,
                         uint depth BIAS_ARGUMENT) {
  const uint x = 4u * (uint)get_global_id(0);
  const uint y = 4u * (uint)get_global_id(1);
  const uint start = BIAS + LEAST;
  uint4 sums[4] = {(uint4)(start), (uint4)(start), (uint4)(start), (uint4)(start)};
  uint4 a_rows;
  uint4 b_rows;
  uint k = 0u;

  if (x >= width || y >= height) return;
  depth *= sizeof(ELEMENT); /* bytes from here on */

  a_rows = min(y + (uint4)(0u, 1u, 2u, 3u), (uint4)(height - 1u)) * depth;
  b_rows = min(x + (uint4)(0u, 1u, 2u, 3u), (uint4)(width - 1u)) * depth;
  if (depth % 16u == 0u) {
    for (; k < depth; k += 16u) dot_16(a, a_rows + k, b, b_rows + k, sums);
  } else {
    for (; k + 4u <= depth; k += 4u) {
      dot_step(load_step(a, a_rows + k), load_step(b, b_rows + k), sums);
    }
    if (k < depth) {
      dot_step(load_last_step(a, a_rows + k, depth - k), load_last_step(b, b_rows + k, depth - k),
               sums);
    }
  }

  c += y * width + x;
  store_row(sums[0] - LEAST, width - x, c);
  if (y + 1u < height) store_row(sums[1] - LEAST, width - x, c + width);
  if (y + 2u < height) store_row(sums[2] - LEAST, width - x, c + 2u * width);
  if (y + 3u < height) store_row(sums[3] - LEAST, width - x, c + 3u * width);
}
