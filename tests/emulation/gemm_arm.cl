#include "arm_integer_dot_product.clh"

#include "gemm_int/gemm_int.cl"
