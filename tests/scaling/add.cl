kernel void add(global const TYPE *in, global TYPE *out) {
  size_t i = get_global_id(0);
#ifdef TWICE
  out[i] = in[i] + in[i];
#else
  out[i] = in[i];
#endif
}
