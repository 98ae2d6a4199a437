/*
 * The sum of reduce.cl through sub-groups: 64 elements an item, sub-group sums by the built-in,
 * work-group sums in local memory, one addition to the total a work-group. Any local size. OpenCL C
 * 2.0 or 3.0 with cl_khr_subgroups.
 *
 * With REDUCE_QCOM sub-groups of up to 128 items sum by halving in registers, through
 * cl_qcom_subgroup_shuffle.
 *
 * Compile with the kernels folder on the include path.
 */
#include "reduce/item_sum.clh"

#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif

#ifdef REDUCE_QCOM
#ifdef cl_qcom_subgroup_shuffle
#pragma OPENCL EXTENSION cl_qcom_subgroup_shuffle : enable
#endif

/*
 * Adds what the lane `delta` further on has. What the shuffle gives for a lane that a partial
 * sub-group does not have is not relied upon.
 */
static uint add_down(uint sum, uint lane, uint delta, uint lanes) {
  const uint other =
      qcom_sub_group_shuffle_down(sum, delta, CLK_SUB_GROUP_SHUFFLE_WIDTH_WAVE_SIZE_QCOM, 0u);

  return lane + delta < lanes ? sum + other : sum;
}

/* The sub-group's sum, in its lane 0. */
static uint sub_group_sum(uint sum, uint lane) {
  const uint lanes = get_sub_group_size();

  sum = add_down(sum, lane, 64u, lanes);
  sum = add_down(sum, lane, 32u, lanes);
  sum = add_down(sum, lane, 16u, lanes);
  sum = add_down(sum, lane, 8u, lanes);
  sum = add_down(sum, lane, 4u, lanes);
  sum = add_down(sum, lane, 2u, lanes);
  return add_down(sum, lane, 1u, lanes);
}
#else
#define sub_group_sum(sum, lane) sub_group_reduce_add(sum)
#endif

__kernel void reduce_subgroup(__global const uint4 *restrict source, volatile __global uint *total,
                              uint n) {
  volatile __local uint group_sum;
  const bool first = get_local_id(0) == 0 && get_local_id(1) == 0;
  const uint lane = get_sub_group_local_id();
  uint sum;

  if (first) group_sum = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = sub_group_sum(item_sum(source, n), lane);
  if (lane == 0u) atomic_add(&group_sum, sum);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (first) atomic_add(total, group_sum);
}
