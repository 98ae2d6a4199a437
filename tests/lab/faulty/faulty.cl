/* Two faults on purpose: the laboratory's proof that a checker would be heard. */

/* Every work-item writes another value to the first byte. */
__kernel void faulty_race(__global const uchar *source, __global uchar *result, uint width,
                          uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x < width && y < height) result[0] = (uchar)(source[y * width + x] + x + y);
}

/* The last work-item writes one byte behind the result. */
__kernel void faulty_outside(__global const uchar *source, __global uchar *result, uint width,
                             uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x < width && y < height) result[y * width + x + 1u] = source[y * width + x];
}
