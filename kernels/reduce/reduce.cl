/*
 * Sum of n uints modulo 2^32, added to *total, which must be 0 before the launch.
 *
 * source holds n elements and is smaller than 2^32 bytes. Any n from 1 up, any NDRange of one or
 * two dimensions with at least as many items as the variant needs, any local size.
 *
 *   reduce_atomic        1 element an item, each added to the total
 *   reduce_local_atomic  1 element an item, added up in local memory; one addition to the total a
 *                        work-group
 *   reduce_local_tree    64 elements an item, work-group sums by halving in local memory
 *
 * reduce_subgroup.cl and reduce_qcom.cl have the variants through sub-groups.
 *
 * Compile with the kernels folder on the include path.
 */
#include "reduce/item_sum.clh"

__kernel void reduce_atomic(__global const uint *restrict source, volatile __global uint *total,
                            uint n) {
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  if (i < n) atomic_add(total, source[i]);
}

__kernel void reduce_local_atomic(__global const uint *restrict source,
                                  volatile __global uint *total, uint n) {
  volatile __local uint group_sum;
  const uint i = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);
  const bool first = get_local_id(0) == 0 && get_local_id(1) == 0;

  if (first) group_sum = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) atomic_add(&group_sum, source[i]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (first) atomic_add(total, group_sum);
}

#define SLOTS 256u

__kernel void reduce_local_tree(__global const uint4 *restrict source,
                                volatile __global uint *total, uint n) {
  __local uint sums[SLOTS];
  const uint item = (uint)get_local_id(1) * (uint)get_local_size(0) + (uint)get_local_id(0);
  const uint items = (uint)get_local_size(0) * (uint)get_local_size(1);
  const uint own = item_sum(source, n);
  uint first;
  uint left = min(items, SLOTS);
  uint distance;

  /* Items beyond the slots add theirs to the earlier ones', SLOTS at a time. */
  if (item < SLOTS) sums[item] = own;
  for (first = SLOTS; first < items; first += SLOTS) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= first && item - first < SLOTS) sums[item - first] += own;
  }

  /* Fold the upper half onto the lower; a middle one waits for the next round. */
  while (left > 1u) {
    barrier(CLK_LOCAL_MEM_FENCE);
    distance = (left + 1u) / 2u;
    if (item + distance < left) sums[item] += sums[item + distance];
    left = distance;
  }
  if (item == 0u) atomic_add(total, sums[0]);
}
