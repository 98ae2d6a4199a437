#include "qcom_accelerated_image_ops.clh"

#include "laplace/laplace_qcom.cl"

/* The image of four channels that the kernel reads, of the case's buffer of three. */
__kernel void laplace_image(__global const uchar *source, __write_only image2d_t image, uint width,
                            uint height) {
  const uint x = (uint)get_global_id(0);
  const uint y = (uint)get_global_id(1);

  if (x < width && y < height) {
    const float3 pixel = convert_float3(vload3(y * width + x, source)) / 255.0f;
    write_imagef(image, (int2)((int)x, (int)y), (float4)(pixel, 1.0f));
  }
}
