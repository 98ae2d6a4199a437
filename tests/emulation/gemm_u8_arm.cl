#include "arm_integer_dot_product.clh"

#include "gemm_u8/gemm_u8_arm.cl"
