/*
 * The sum of reduce.cl through sub-groups: 64 elements an item, sub-group sums by the built-in,
 * work-group sums in local memory, one addition to the total a work-group. Any local size.
 *
 * OpenCL C 2.0 or 3.0 with cl_khr_subgroups. Compile with the kernels folder on the include path.
 */
#include "reduce/item_sum.clh"

#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif

__kernel void reduce_subgroup(__global const uint4 *restrict source, volatile __global uint *total,
                              uint n) {
  volatile __local uint group_sum;
  const bool first = get_local_id(0) == 0 && get_local_id(1) == 0;
  uint sum;

  if (first) group_sum = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = sub_group_reduce_add(item_sum(source, n));
  if (get_sub_group_local_id() == 0u) atomic_add(&group_sum, sum);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (first) atomic_add(total, group_sum);
}
