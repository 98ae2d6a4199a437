/*
 * convolution_direct of convolution.cl for Qualcomm's compiler, which is told how many bytes the
 * weights take: constant memory of a known size can be loaded onto the chip before the kernel runs,
 * and such an argument otherwise stays in global memory. Other compilers do not know the attribute.
 *
 * Compile with the kernels folder on the include path.
 */
#include "convolution/convolution.clh"

#ifdef __clang__ /* the host check, which knows no attributes of vendors */
#pragma clang diagnostic ignored "-Wunknown-attributes"
#endif

#define WEIGHTS_BYTES (2 * CONVOLUTION_TAPS * 4)

__kernel void convolution_sized(__global const float *restrict source,
                                __constant float *weights
                                __attribute__((max_constant_size(WEIGHTS_BYTES))),
                                __global float *restrict destination, uint width, uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x < width && y < height)
    destination[y * width + x] = window_sum(source, weights, x, y, width, height);
}
