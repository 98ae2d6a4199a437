#include "qcom_subgroup_shuffle.clh"

#include "reduce/reduce_subgroup.cl"
