#include "qcom_reqd_sub_group_size.clh"

#include "epsilon/epsilon_qcom_waves.cl"
