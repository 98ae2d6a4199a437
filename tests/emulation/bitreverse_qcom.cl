#include "qcom_bitreverse.clh"

#include "bitreverse/bitreverse.cl"
