#include "qcom_reqd_sub_group_size.clh"

#include "sobel/sobel_waves.cl"
