/*
 * sobel_px16x4 of sobel.cl in waves of a given size (cl_qcom_reqd_sub_group_size): the compiler
 * gives an item of a half wave twice the registers.
 *
 *   sobel_px16x4_half  half of the wave
 *   sobel_px16x4_full  all of it
 *
 * A compiler that does not know the attribute warns of it. Compile with the kernels folder on the
 * include path.
 */
#include "sobel/sobel_rows.clh"

#ifdef cl_qcom_reqd_sub_group_size
#pragma OPENCL EXTENSION cl_qcom_reqd_sub_group_size : enable
#endif

__attribute__((qcom_reqd_sub_group_size("half"))) __kernel void sobel_px16x4_half(
    __global const uchar *restrict source, __global uchar *restrict gradient_x,
    __global uchar *restrict gradient_y, uint width, uint height) {
  sobel_px16_rows(source, gradient_x, gradient_y, width, height, 4u);
}

__attribute__((qcom_reqd_sub_group_size("full"))) __kernel void sobel_px16x4_full(
    __global const uchar *restrict source, __global uchar *restrict gradient_x,
    __global uchar *restrict gradient_y, uint width, uint height) {
  sobel_px16_rows(source, gradient_x, gradient_y, width, height, 4u);
}
