kernel void add_one(global uchar *values) { values[get_global_id(0)] += 1; }
