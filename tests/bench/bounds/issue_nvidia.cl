/*
 * The same as issue.cl in NVIDIA's instructions.
 *
 *   issue_bytes    the byte permutation, 4096 an item
 *   issue_half     fused multiply-adds of two halves, 4096 an item
 *   issue_epsilon  the four operations of epsilon_half.cl for a neighbour of two pixels, 4224 an
 * item
 */
#include "common/words.clh"
#include "issue.clh"

#ifdef __NV_CL_C_VERSION
#include "common/half8.clh"
#else /* The host step, which makes no code of these. */
uint permute_bytes(uint even, uint odd, uint selectors);
uint half2_add(uint a, uint b);
uint half2_subtract(uint a, uint b);
uint half2_fma(uint a, uint b, uint c);
uint half2_weight(uint limit, uint difference);
#endif

#define BYTES_STEP(a) a = permute_bytes(a, n, selectors)
__kernel void issue_bytes(__global uint *out, uint n) {
  const uint selectors = n * n + 0x2547u;
  uint8 v = CHAINS;
  uint round;

  if (ITEM >= n) return;
  ROUNDS(BYTES_STEP)
  out[ITEM] = folded(v);
}

#define HALF_STEP(a) a = half2_fma(a, n, other)
__kernel void issue_half(__global uint *out, uint n) {
  const uint other = n * n + 1u;
  uint8 v = CHAINS;
  uint round;

  if (ITEM >= n) return;
  ROUNDS(HALF_STEP)
  out[ITEM] = folded(v);
}

/* A neighbour of one of eight pairs of pixels. After each eight comes another neighbour. */
#define EPSILON_STEP(centre)                              \
  do {                                                    \
    const uint difference = half2_subtract(near, centre); \
    const uint weight = half2_weight(n, difference);      \
    count = half2_add(count, weight);                     \
    sum = half2_fma(weight, difference, sum);             \
  } while (0)
__kernel void issue_epsilon(__global uint *out, uint n) {
  uint8 v = CHAINS;
  uint near = n + ITEM;
  uint count = 0u;
  uint sum = 0u;
  uint round;

  if (ITEM >= n) return;
  for (round = 0u; round < 128u; ++round) {
    EIGHT(EPSILON_STEP);
    near = half2_add(near, n);
  }
  out[ITEM] = count ^ sum;
}
