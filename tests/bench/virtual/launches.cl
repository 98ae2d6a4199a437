/* SPDX-License-Identifier: Apache-2.0
 *
 * What a compiler without a driver has to get right of a launch: gpu_virtual.py runs these from
 * such a compiler's binaries and from the driver's own compiler, and compares what they write.
 */

/* Every work-item function, 24 words for each work-item. */
kernel void work_items(global uint *out) {
  const size_t width = get_global_size(0), height = get_global_size(1);
  const size_t x = get_global_id(0) - get_global_offset(0);
  const size_t y = get_global_id(1) - get_global_offset(1);
  const size_t z = get_global_id(2) - get_global_offset(2);
  global uint *o = out + 24 * ((z * height + y) * width + x);
  for (uint d = 0; d < 3; ++d) {
    o[d] = get_global_id(d);
    o[3 + d] = get_global_offset(d);
    o[6 + d] = get_global_size(d);
    o[9 + d] = get_local_id(d);
    o[12 + d] = get_local_size(d);
    o[15 + d] = get_group_id(d);
    o[18 + d] = get_num_groups(d);
  }
  o[21] = get_work_dim();
  o[22] = get_global_id(7) + get_local_id(7) + get_group_id(7) + get_global_offset(7);
  o[23] = get_global_size(7) * 100 + get_local_size(7) * 10 + get_num_groups(7);
}

/* The driver has to choose this size where the caller gives none. */
kernel __attribute__((reqd_work_group_size(32, 4, 1))) void required_size(global uint *out) {
  const size_t item = get_global_id(1) * get_global_size(0) + get_global_id(0);
  out[item] = get_local_size(0) * 1000 + get_local_size(1) * 10 + get_local_id(0);
}

/* Memory of each kind as arguments: two constant ones, two local ones of different sizes. */
kernel void memory(global float *out, constant float *table, local float *row, constant int *order,
                   local int *column, global const float *in) {
  const size_t item = get_global_id(0), mine = get_local_id(0), n = get_local_size(0);
  row[mine] = in[item] * table[item & 1023];
  column[mine] = order[mine] + (int)item;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[item] = row[n - 1 - mine] + (float)column[(mine + 1) % n];
}

typedef struct {
  char tag;
  double weight;
  short4 shorts;
} Record;

/* Values of each size, and the padding between them. */
kernel void values(global float *out, char c, float f, uchar3 bytes, short s, Record record, long l,
                   float4 v, ushort8 shorts, double d) {
  const size_t item = get_global_id(0);
  out[item] = c + f + bytes.x + bytes.z + s + record.tag + (float)record.weight + record.shorts.w +
              (float)l + v.x + v.w + shorts.s0 + shorts.s7 + (float)d + (float)item;
}

constant int kPrimes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

/* Program-scope constants, local and private arrays, atomics. */
kernel void arrays(global uint *out, global uint *sum) {
  local uint shared_items[64];
  uint mine[16];
  const uint item = get_global_id(0), place = get_local_id(0);
  for (uint i = 0; i < 16; ++i) mine[i] = kPrimes[(i + item) & 7] * i;
  shared_items[place & 63] = mine[item & 15];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[item] = shared_items[(place ^ 1) & 63] + mine[(item >> 2) & 15];
  atomic_add(sum, out[item]);
  atomic_max(sum + 1, out[item]);
}

/* Exact functions: results are equal bit by bit. */
kernel void exact(global float *out, global const float *in) {
  const size_t item = get_global_id(0), n = get_global_size(0);
  const float a = in[item], b = in[(item + 1) % n], c = in[(item + 2) % n];
  global float *o = out + 8 * item;
  o[0] = fma(a, b, c);
  o[1] = a * b;
  o[2] = fabs(a) - b;
  o[3] = floor(a) + rint(b) + trunc(c);
  o[4] = convert_float(convert_int_rtn(a)) + convert_float(convert_uchar_sat_rte(b));
  o[5] = fmin(a, b) + fmax(b, c);
  o[6] = as_float(as_int(a) ^ rotate(as_int(b), 3) & 0x7fffff);
  o[7] = vload_half(0, (global const half *)(in + item));
}

/* Functions with an error: the driver's own and libclc's differ in the last places. */
kernel void rounded(global float *out, global const float *in) {
  const size_t item = get_global_id(0);
  const float a = fabs(in[item]) + 0.01f;
  global float *o = out + 12 * item;
  o[0] = sin(a);
  o[1] = cos(a);
  o[2] = exp(-a);
  o[3] = log(a);
  o[4] = pow(a, 1.5f);
  o[5] = rsqrt(a);
  o[6] = atan2(a, 2.0f);
  o[7] = native_sin(a);
  o[8] = native_exp(-a);
  o[9] = native_log(a);
  o[10] = native_divide(1.0f, a) + native_rsqrt(a);
  o[11] = native_powr(a, 1.5f) + 1.0f / (a + 1.0f) + sqrt(a);
}
