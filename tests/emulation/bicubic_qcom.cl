#include "qcom_filter_bicubic.clh"

#include "bicubic/bicubic_qcom.cl"
