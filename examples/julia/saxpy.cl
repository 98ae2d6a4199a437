kernel void saxpy(float a, global const float *x, global float *y, uint count) {
  const size_t i = get_global_id(0);
  if (i < count) y[i] = a * x[i] + y[i];  // Kiln may pad the range
}
