#include "qcom_accelerated_image_ops.clh"

#include "sobel/sobel_qcom.cl"
