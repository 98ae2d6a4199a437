/*
 * Epsilon filter of an 8-bit luma plane, variants for Adreno GPUs that fix how many items run as
 * one. epsilon.cl has the definition.
 *
 *   epsilon_qcom_half_wave  epsilon_rgba_px4_select in sub-groups of half a wave, in which an item
 *                           may have more registers
 *   epsilon_qcom_full_wave  the same in sub-groups of a whole wave
 *
 * They need cl_qcom_reqd_sub_group_size; all else is as in epsilon_rgba.cl.
 *
 * Compile with the kernels folder on the include path.
 */
#include "epsilon/epsilon_texel.clh"

#ifdef cl_qcom_reqd_sub_group_size
#pragma OPENCL EXTENSION cl_qcom_reqd_sub_group_size : enable
#endif

__attribute__((qcom_reqd_sub_group_size("half"))) __kernel void epsilon_qcom_half_wave(
    __read_only image2d_t source, __write_only image2d_t destination, uint width, uint height,
    uint threshold) {
  epsilon_texel_item(source, destination, width, height, threshold, true);
}

__attribute__((qcom_reqd_sub_group_size("full"))) __kernel void epsilon_qcom_full_wave(
    __read_only image2d_t source, __write_only image2d_t destination, uint width, uint height,
    uint threshold) {
  epsilon_texel_item(source, destination, width, height, threshold, true);
}
