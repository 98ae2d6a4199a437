// SPDX-License-Identifier: Apache-2.0
// Half-precision numbers, 16 bits as IEEE 754 has them.
#pragma once

#include <cstdint>

namespace kiln::builder {

float float_of_half(std::uint16_t half);

// The nearest half, of two equally near ones the even one; infinity from 65520 on.
std::uint16_t half_of_float(float value);

}  // namespace kiln::builder
