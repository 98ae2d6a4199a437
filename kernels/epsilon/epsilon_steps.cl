/*
 * Epsilon filter of an 8-bit luma plane: the steps of buffers before the one of epsilon.cl, whose
 * comment has the definition and the parameters.
 *
 *   epsilon_buffer_packed  1 pixel an item: eight neighbours a load
 *   epsilon_buffer_few     EPSILON_PX pixels an item, 4 or 8, which share the loads and slide over
 * them
 *
 * Dimension 0 of the NDRange is x in units of an item's pixels. Compile with the kernels folder on
 * the include path.
 */
#include "epsilon/epsilon_buffer.clh"

#ifndef EPSILON_PX
__kernel void epsilon_buffer_packed(__global const uchar *restrict source,
                                    __global uchar *restrict destination, uint width, uint height,
                                    uint threshold) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  int dy;

  if (x >= width || y >= height) return;

  threshold = min(threshold, 255u);
  if (x < 4u || x + 12u > width) { /* loads of 16 bytes would reach over an edge */
    destination[y * width + x] = epsilon_pixel(source, x, y, width, height, threshold);
    return;
  }
  const ushort8 span = (ushort8)((ushort)(2u * threshold));
  const ushort8 bias = (ushort8)((ushort)(threshold - source[y * width + x]));
  ushort8 sum = (ushort8)(0);
  ushort8 count = (ushort8)(0);
  for (dy = -4; dy <= 4; ++dy) {
    const uint row = (uint)clamp((int)y + dy, 0, (int)height - 1) * width;
    const ushort16 p = convert_ushort16(vload16(0, source + (row + x - 4u)));
    const ushort8 far = (ushort8)(1024); /* what no threshold lets in */
    EPSILON_ADD(ushort8, p.s01234567);
    EPSILON_ADD(ushort8, (ushort8)(p.s8, far.s0123, far.s012));
  }
  const ushort4 sums = sum.lo + sum.hi;
  const ushort4 counts = count.lo + count.hi;
  const uint number = (uint)counts.x + counts.y + counts.z + counts.w;
  const uint total = (uint)sums.x + sums.y + sums.z + sums.w;
  destination[y * width + x] = (uchar)((total + number / 2u) / number);
}
#else
#if EPSILON_PX == 4
#define LANES(name) name##4
#define EPSILON_FEW EPSILON_ADD(ushort4, p.s0123)
#else
#define LANES(name) name##8
#define EPSILON_FEW EPSILON_ADD(ushort8, p.s01234567)
#endif

__kernel void epsilon_buffer_few(__global const uchar *restrict source,
                                 __global uchar *restrict destination, uint width, uint height,
                                 uint threshold) {
  const uint own = EPSILON_PX * (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);
  uint x;
  int dx, dy;

  if (own >= width || y >= height) return;

  threshold = min(threshold, 255u);
  if (own < 4u || own + 12u > width) { /* loads of 16 bytes would reach over an edge */
    for (x = own; x < min(own + EPSILON_PX, width); ++x)
      destination[y * width + x] = epsilon_pixel(source, x, y, width, height, threshold);
    return;
  }
  const LANES(ushort) span = (LANES(ushort))((ushort)(2u * threshold));
  const LANES(ushort) bias = (LANES(ushort))((ushort)threshold) -
                             LANES(convert_ushort)(LANES(vload)(0, source + (y * width + own)));
  LANES(ushort) sum = (LANES(ushort))(0);
  LANES(ushort) count = (LANES(ushort))(0);
  for (dy = -4; dy <= 4; ++dy) {
    const uint row = (uint)clamp((int)y + dy, 0, (int)height - 1) * width;
    ushort16 p = convert_ushort16(vload16(0, source + (row + own - 4u)));
#pragma unroll
    for (dx = -4; dx <= 4; ++dx) {
      EPSILON_FEW;
      p = p.s123456789abcdeff;
    }
  }
  LANES(vstore)
  (LANES(convert_uchar)((LANES(convert_float)(sum + (count >> (ushort)(1))) + 0.5f) /
                        LANES(convert_float)(count)),
   0, destination + (y * width + own));
}
#endif
