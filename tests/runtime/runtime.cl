// Kernels of the runtime's own tests. The first work-item writes down the sizes of the
// launch, so that a test sees how far the range was padded.

kernel void scale(global uint *values, uint factor, uint count, global uint *launched) {
  const size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);
  if (i == 0) {
    launched[0] = (uint)get_global_size(0);
    launched[1] = (uint)get_global_size(1);
    launched[2] = (uint)get_local_size(0);
    launched[3] = (uint)get_local_size(1);
  }
  if (i < count) values[i] *= factor;
}

kernel __attribute__((reqd_work_group_size(4, 2, 1))) void scale_by_groups(
    global uint *values, uint factor, uint count, global uint *launched) {
  const size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);
  if (i == 0) {
    launched[0] = (uint)get_global_size(0);
    launched[1] = (uint)get_global_size(1);
    launched[2] = (uint)get_local_size(0);
    launched[3] = (uint)get_local_size(1);
  }
  if (i < count) values[i] *= factor;
}

kernel void invert(read_only image2d_t from, write_only image2d_t to) {
  const sampler_t nearest =
      CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  if (at.x >= get_image_width(to) || at.y >= get_image_height(to)) return;
  write_imagef(to, at, 1.0f - read_imagef(from, nearest, at));
}
