#include "qcom_accelerated_image_ops.clh"

#include "box/box_qcom.cl"
