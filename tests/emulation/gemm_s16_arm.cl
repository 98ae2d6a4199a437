#include "arm_integer_dot_product.clh"

#include "gemm_s16/gemm_s16_arm.cl"
