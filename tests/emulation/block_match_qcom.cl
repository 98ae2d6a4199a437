#include "qcom_accelerated_image_ops.clh"

#include "block_match/block_match_qcom.cl"
