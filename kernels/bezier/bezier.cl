/*
 * Points of a bicubic patch over a width x height grid of (s, t) in [0, 1] x [0, 1].
 *
 *   s = column / (width - 1), t = row / (height - 1); 0 where the grid has one column or row
 *   position = (X, Y, Z, 1), each of X, Y and Z = S M T^T with its own 4x4 matrix M (x, y, z:
 *   row-major), S = (s^3, s^2, s, 1), T = (t^3, t^2, t, 1)
 *
 * position holds height rows of width float4, st as many float2; each is smaller than 2^32 bytes,
 * and they do not overlap. Any width and height from 1 up. Items outside the grid do nothing.
 *
 *   bezier_scalar_args                one point an item, all of S M T^T
 *   bezier_rows, bezier_precomputed   M T^T is the same along a row: the first kernel (one item a
 *                                     row) writes it, three float4 a row, the second reads it
 *   bezier_row_px4                    both at once: M T^T once an item, which has 4 points of its
 *                                     row, as far apart as there are items in a row
 *
 * With BEZIER_NATIVE defined, s and t are divided by native_divide, whose error is the driver's.
 */
static float along(uint i, uint side) {
#ifdef BEZIER_NATIVE
  return side > 1u ? native_divide(convert_float(i), convert_float(side - 1u)) : 0.0f;
#else
  return side > 1u ? convert_float(i) / convert_float(side - 1u) : 0.0f;
#endif
}

/* M T^T: the coefficients of s^3, s^2, s and 1. */
static float4 row_coefficients(float16 m, float t) {
  return ((m.s048c * t + m.s159d) * t + m.s26ae) * t + m.s37bf;
}

static float polynomial(float4 c, float s) { return ((c.x * s + c.y) * s + c.z) * s + c.w; }

static float4 point(float4 cx, float4 cy, float4 cz, float s) {
  return (float4)(polynomial(cx, s), polynomial(cy, s), polynomial(cz, s), 1.0f);
}

__kernel void bezier_scalar_args(float16 x, float16 y, float16 z,
                                 __global float4 *restrict position, __global float2 *restrict st,
                                 uint width, uint height) {
  const uint column = (uint)get_global_id(0);
  const uint row = (uint)get_global_id(1);

  if (column < width && row < height) {
    const uint i = row * width + column;
    const float s = along(column, width);
    const float t = along(row, height);
    position[i] = point(row_coefficients(x, t), row_coefficients(y, t), row_coefficients(z, t), s);
    st[i] = (float2)(s, t);
  }
}

__kernel void bezier_rows(float16 x, float16 y, float16 z, __global float4 *restrict rows,
                          uint height) {
  const uint row = (uint)get_global_id(1) * (uint)get_global_size(0) + (uint)get_global_id(0);

  if (row < height) {
    const float t = along(row, height);
    rows[3u * row] = row_coefficients(x, t);
    rows[3u * row + 1u] = row_coefficients(y, t);
    rows[3u * row + 2u] = row_coefficients(z, t);
  }
}

__kernel void bezier_precomputed(__global const float4 *restrict rows,
                                 __global float4 *restrict position, __global float2 *restrict st,
                                 uint width, uint height) {
  const uint column = (uint)get_global_id(0);
  const uint row = (uint)get_global_id(1);

  if (column < width && row < height) {
    const uint i = row * width + column;
    const float s = along(column, width);
    position[i] = point(rows[3u * row], rows[3u * row + 1u], rows[3u * row + 2u], s);
    st[i] = (float2)(s, along(row, height));
  }
}

__kernel void bezier_row_px4(float16 x, float16 y, float16 z, __global float4 *restrict position,
                             __global float2 *restrict st, uint width, uint height) {
  const uint row = (uint)get_global_id(1);
  const uint stride = (uint)get_global_size(0);
  uint column = (uint)get_global_id(0);

  if (row < height) {
    const float t = along(row, height);
    const float4 cx = row_coefficients(x, t);
    const float4 cy = row_coefficients(y, t);
    const float4 cz = row_coefficients(z, t);
    for (; column < width; column += stride) {
      const float s = along(column, width);
      position[row * width + column] = point(cx, cy, cz, s);
      st[row * width + column] = (float2)(s, t);
    }
  }
}
