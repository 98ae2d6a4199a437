/*
 * How many operations a device does in a second: 4096 an item. out has an element an item.
 *
 *   issue_float    fused multiply-adds in float
 *   issue_integer  additions and exclusive ors of uint, by turns
 */
#include "issue.clh"

#define FLOAT_STEP(a) a = fma(a, factor, term)
__kernel void issue_float(__global uint *out, uint n) {
  const float factor = 1.0f / (float)n;
  const float term = (float)n;
  float8 v = convert_float8(CHAINS);
  uint round;

  if (ITEM >= n) return;
  ROUNDS(FLOAT_STEP)
  out[ITEM] = folded(as_uint8(v));
}

#define INTEGER_STEP(a) a = (a ^ n) + other
__kernel void issue_integer(__global uint *out, uint n) {
  const uint other = n * n + 1u;
  uint8 v = CHAINS;
  uint round;

  if (ITEM >= n) return;
  for (round = 0u; round < 64u; ++round) {
    EIGHT(INTEGER_STEP);
    EIGHT(INTEGER_STEP);
    EIGHT(INTEGER_STEP);
    EIGHT(INTEGER_STEP);
  }
  out[ITEM] = folded(v);
}
