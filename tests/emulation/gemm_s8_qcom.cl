#include "qcom_dot_product8.clh"

#include "gemm_s8/gemm_s8_qcom.cl"
