// Counts how often each byte occurs: each work-group in local memory, then all together.
kernel void histogram(global const uchar *values, uint count, global uint *bins, local uint *part) {
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) part[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) atomic_inc(&part[values[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) atomic_add(&bins[i], part[i]);
}
