/* SPDX-License-Identifier: Apache-2.0
 *
 * Built-ins that stand before libclc's when a program is linked for NVIDIA's GPUs.
 *
 * The work-item functions follow what NVIDIA's OpenCL driver passes to a kernel. It splits ranges
 * that are larger than a grid: %envreg0 to 2 are the work-groups before this part, 3 to 5 the global
 * offset with the work-items before this part, 6 to 8 the numbers of all work-groups, 9 is the number
 * of dimensions. libclc's know none of these. Of native_*, libclc's become calls that NVPTX has no
 * code for.
 */
#define OVERLOADABLE __attribute__((overloadable, always_inline))

#define ENVREG(n)                                                  \
  static __attribute__((always_inline)) uint envreg##n(void) {     \
    uint value;                                                    \
    __asm__("mov.b32 %0, %%envreg" #n ";" : "=r"(value));          \
    return value;                                                  \
  }
ENVREG(0) ENVREG(1) ENVREG(2) ENVREG(3) ENVREG(4)
ENVREG(5) ENVREG(6) ENVREG(7) ENVREG(8) ENVREG(9)

#define BY_DIMENSION(name, x, y, z, otherwise)    \
  OVERLOADABLE size_t name(uint dimension) {      \
    switch (dimension) {                          \
      case 0: return (x);                         \
      case 1: return (y);                         \
      case 2: return (z);                         \
      default: return (otherwise);                \
    }                                             \
  }
#define SREG(name) (uint)__nvvm_read_ptx_sreg_##name()
BY_DIMENSION(get_local_id, SREG(tid_x), SREG(tid_y), SREG(tid_z), 0)
BY_DIMENSION(get_local_size, SREG(ntid_x), SREG(ntid_y), SREG(ntid_z), 1)
BY_DIMENSION(get_enqueued_local_size, SREG(ntid_x), SREG(ntid_y), SREG(ntid_z), 1)
BY_DIMENSION(get_group_id, SREG(ctaid_x) + envreg0(), SREG(ctaid_y) + envreg1(),
             SREG(ctaid_z) + envreg2(), 0)
BY_DIMENSION(get_num_groups, envreg6(), envreg7(), envreg8(), 1)
BY_DIMENSION(get_global_offset, (size_t)envreg3() - (size_t)envreg0() * SREG(ntid_x),
             (size_t)envreg4() - (size_t)envreg1() * SREG(ntid_y),
             (size_t)envreg5() - (size_t)envreg2() * SREG(ntid_z), 0)

OVERLOADABLE size_t get_global_size(uint dimension) {
  return get_num_groups(dimension) * get_local_size(dimension);
}

/* Without the offset. */
static __attribute__((always_inline)) size_t id(uint dimension) {
  return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension);
}

#define ID(d, offset) (size_t) SREG(ctaid_##d) * SREG(ntid_##d) + SREG(tid_##d) + offset()
BY_DIMENSION(get_global_id, ID(x, envreg3), ID(y, envreg4), ID(z, envreg5), 0)
OVERLOADABLE size_t get_global_linear_id(void) {
  return (id(2) * get_global_size(1) + id(1)) * get_global_size(0) + id(0);
}
OVERLOADABLE size_t get_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
         get_local_id(0);
}
OVERLOADABLE uint get_work_dim(void) { return envreg9(); }

/* One instruction each, or a few. */
static __attribute__((always_inline)) float ex2(float x) {
  float result;
  __asm__("ex2.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
static __attribute__((always_inline)) float lg2(float x) {
  float result;
  __asm__("lg2.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
static __attribute__((always_inline)) float sine(float x) {
  float result;
  __asm__("sin.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
static __attribute__((always_inline)) float cosine(float x) {
  float result;
  __asm__("cos.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
static __attribute__((always_inline)) float quotient(float x, float y) {
  float result;
  __asm__("div.approx.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
static __attribute__((always_inline)) float root(float x) {
  float result;
  __asm__("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
static __attribute__((always_inline)) float inverse_root(float x) {
  float result;
  __asm__("rsqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
static __attribute__((always_inline)) float inverse(float x) {
  float result;
  __asm__("rcp.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

#define UNARY(name, value)                                                                   \
  OVERLOADABLE float name(float x) { return (value); }                                       \
  OVERLOADABLE float2 name(float2 x) { return (float2)(name(x.x), name(x.y)); }              \
  OVERLOADABLE float3 name(float3 x) { return (float3)(name(x.xy), name(x.z)); }             \
  OVERLOADABLE float4 name(float4 x) { return (float4)(name(x.lo), name(x.hi)); }            \
  OVERLOADABLE float8 name(float8 x) { return (float8)(name(x.lo), name(x.hi)); }            \
  OVERLOADABLE float16 name(float16 x) { return (float16)(name(x.lo), name(x.hi)); }
#define BINARY(name, value)                                                                  \
  OVERLOADABLE float name(float x, float y) { return (value); }                              \
  OVERLOADABLE float2 name(float2 x, float2 y) {                                             \
    return (float2)(name(x.x, y.x), name(x.y, y.y));                                         \
  }                                                                                          \
  OVERLOADABLE float3 name(float3 x, float3 y) {                                             \
    return (float3)(name(x.xy, y.xy), name(x.z, y.z));                                       \
  }                                                                                          \
  OVERLOADABLE float4 name(float4 x, float4 y) {                                             \
    return (float4)(name(x.lo, y.lo), name(x.hi, y.hi));                                     \
  }                                                                                          \
  OVERLOADABLE float8 name(float8 x, float8 y) {                                             \
    return (float8)(name(x.lo, y.lo), name(x.hi, y.hi));                                     \
  }                                                                                          \
  OVERLOADABLE float16 name(float16 x, float16 y) {                                          \
    return (float16)(name(x.lo, y.lo), name(x.hi, y.hi));                                    \
  }

#define LOG2_E 1.44269504088896340736f
#define LOG2_10 3.32192809488736234787f
UNARY(native_cos, cosine(x))
UNARY(native_exp, ex2(x * LOG2_E))
UNARY(native_exp2, ex2(x))
UNARY(native_exp10, ex2(x * LOG2_10))
UNARY(native_log, lg2(x) * (1.0f / LOG2_E))
UNARY(native_log2, lg2(x))
UNARY(native_log10, lg2(x) * (1.0f / LOG2_10))
UNARY(native_recip, inverse(x))
UNARY(native_rsqrt, inverse_root(x))
UNARY(native_sin, sine(x))
UNARY(native_sqrt, root(x))
UNARY(native_tan, quotient(sine(x), cosine(x)))
BINARY(native_divide, quotient(x, y))
BINARY(native_powr, ex2(y * lg2(x)))
