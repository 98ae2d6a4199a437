kernel void halve(global int *values, int count) { values[get_global_id(0)] = count; }
