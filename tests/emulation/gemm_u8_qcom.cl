#include "qcom_dot_product8.clh"

#include "gemm_u8/gemm_u8_qcom.cl"
