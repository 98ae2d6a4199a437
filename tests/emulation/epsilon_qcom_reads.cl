#include "qcom_vector_image_ops.clh"

#include "epsilon/epsilon_qcom_reads.cl"
