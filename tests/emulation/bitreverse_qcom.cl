#include "qcom_bitreverse.clh"

#include "bitreverse/bitreverse_qcom.cl"
