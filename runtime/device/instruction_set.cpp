// SPDX-License-Identifier: Apache-2.0
// Asks the processor for its instructions.
#include "runtime/device/device.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kiln::runtime {

#if defined(__x86_64__)
namespace {

constexpr unsigned kSse42 = bit_SSE4_2 | bit_SSSE3 | bit_POPCNT;
constexpr unsigned kAvx = bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C | bit_MOVBE;
constexpr unsigned kAvx2 = bit_AVX2 | bit_BMI | bit_BMI2;
constexpr unsigned kAvx512 =
    bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
// Registers that the system saves: those of AVX, and those of AVX-512.
constexpr unsigned kSaved = 0x06, kAllSaved = 0xe6;

bool has(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

}  // namespace

const char *instruction_set() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !has(c, kSse42)) return "x86-64";
  const bool has_avx = has(c, kAvx);
  if (!has_avx || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || !has(b, kAvx2)) {
    return "x86-64-v2";
  }
  unsigned saved = 0;
  __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
  if (!has(saved, kSaved)) return "x86-64-v2";
  return has(saved, kAllSaved) && has(b, kAvx512) ? "x86-64-v4" : "x86-64-v3";
}
#else
const char *instruction_set() { return nullptr; }
#endif

}  // namespace kiln::runtime
