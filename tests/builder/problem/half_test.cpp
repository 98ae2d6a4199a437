// SPDX-License-Identifier: Apache-2.0
#include "builder/problem/plane.hpp"

#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"

using namespace kiln::builder;

TEST_CASE("Every half becomes a float and the same half again") {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_of_half(half);
    if (std::isnan(value)) {
      CHECK((bits & 0x7c00) == 0x7c00);
      CHECK(std::isnan(float_of_half(half_of_float(value))));
    } else if (half_of_float(value) != half) {
      FAIL_CHECK("half " << bits << " became " << half_of_float(value));
    }
  }
}

TEST_CASE("Halves have the values of IEEE 754") {
  CHECK(float_of_half(0x3c00) == 1);
  CHECK(float_of_half(0xc000) == -2);
  CHECK(float_of_half(0x7bff) == 65504);
  CHECK(float_of_half(0x0400) == std::ldexp(1.0f, -14));
  CHECK(float_of_half(0x0001) == std::ldexp(1.0f, -24));
  CHECK(float_of_half(0xfc00) == -std::numeric_limits<float>::infinity());
}

TEST_CASE("A float becomes the nearest half, of two the even one") {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);
    const float middle = (float_of_half(low) + float_of_half(high)) / 2;
    const std::uint16_t even = bits % 2 == 0 ? low : high;
    const bool right = half_of_float(middle) == even &&
                       half_of_float(std::nextafter(middle, 0.0f)) == low &&
                       half_of_float(std::nextafter(middle, 1e6f)) == high;
    if (!right) FAIL_CHECK("between half " << bits << " and the next");
  }
  CHECK(half_of_float(65519) == 0x7bff);
  CHECK(half_of_float(65520) == 0x7c00);
  CHECK(half_of_float(-1e30f) == 0xfc00);
  CHECK(half_of_float(-0.0f) == 0x8000);
}
