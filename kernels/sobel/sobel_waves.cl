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
#include "sobel/sobel.cl"

#ifdef cl_qcom_reqd_sub_group_size
#pragma OPENCL EXTENSION cl_qcom_reqd_sub_group_size : enable
#endif

SOBEL_ROWS_KERNEL(__attribute__((qcom_reqd_sub_group_size("half"))) __kernel, sobel_px16x4_half, 4u)
SOBEL_ROWS_KERNEL(__attribute__((qcom_reqd_sub_group_size("full"))) __kernel, sobel_px16x4_full, 4u)
