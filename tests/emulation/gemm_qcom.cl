#include "qcom_dot_product8.clh"

#include "gemm_int/gemm_int.cl"
