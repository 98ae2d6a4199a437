// Kernels with a parameter of each kind, and names that C++ cannot have.
struct sizes {
  int width;
  double scale;
};
typedef uchar pixel;

kernel void scale(global float *values, float factor, uint count) {
  const uint i = get_global_id(0);
  if (i < count) values[i] *= factor;
}

kernel void weigh(global const float4 *restrict from, global float4 *to, constant float *weights,
                  local float *own, float4 color, struct sizes sizes, global pixel *pixels) {
  own[0] = weights[0] + color.x + (float)sizes.scale + pixels[0];
  to[get_global_id(0)] = from[get_global_id(0)] + own[0];
}

kernel void sample(read_only image2d_t from, read_only image3d_t to, sampler_t sampler,
                   int namespace, int class, int range, long8 wide) {}

kernel void namespace() {}
