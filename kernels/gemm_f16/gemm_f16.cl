/*
 * Product of two matrices of halves into floats: C = A B, as gemm_f32.cl has it, but that A and B
 * are halves.
 *
 *   gemm_f16_scalar  1 element an item, products and sums in float; needs no cl_khr_fp16
 *
 * gemm_f16_half.cl multiplies in half precision, gemm_f32/gemm_f32_tiled.cl has the variants for
 * GPUs.
 */
__kernel void gemm_f16_scalar(__global const half *restrict a, __global const half *restrict b,
                              __global float *restrict c, uint width, uint height, uint depth) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  float sum = 0.0f;
  uint k;

  if (x >= width || y >= height) return;

  a += y * depth;
  b += x;
  for (k = 0u; k < depth; ++k) sum += vload_half(k, a) * vload_half(k * width, b);
  c[y * width + x] = sum;
}
