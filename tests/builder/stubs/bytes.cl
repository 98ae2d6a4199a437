kernel void halve(global char *values, int count) { values[get_global_id(0)] = count; }
