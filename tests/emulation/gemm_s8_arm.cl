#include "arm_integer_dot_product.clh"

#include "gemm_s8/gemm_s8_arm.cl"
