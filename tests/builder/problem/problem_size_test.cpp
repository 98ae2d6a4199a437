// SPDX-License-Identifier: Apache-2.0
#include "builder/problem/program_shape.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::builder;

TEST_CASE("A term of the problem's size is a name with a factor, a divisor and an addend") {
  const ProblemSize size{10, 7, 3};
  CHECK(parse_term("width").value()(size) == 10);
  CHECK(parse_term("2*height").value()(size) == 14);
  CHECK(parse_term("width/4").value()(size) == 3);
  CHECK(parse_term("depth+6").value()(size) == 9);
  CHECK(parse_term("3*width/8+1").value()(size) == 5);
  CHECK(parse_term("12").value()(size) == 12);
}

TEST_CASE("Anything else is no term") {
  for (const char *text : {"", "0", "*width", "2*", "width/0", "width/", "width+", "wide", "2width",
                           "width*2", "width-1", " width", "65537", "width/4/2", "width+1+1"}) {
    INFO(text);
    CHECK_FALSE(parse_term(text).has_value());
  }
}

TEST_CASE("Terms are divided by one space, and at most three") {
  const auto terms = parse_terms("width/2 height");
  REQUIRE(terms.has_value());
  CHECK(evaluate(*terms, {5, 9, 1}) == std::array<std::uint64_t, 3>{3, 9, 1});
  CHECK(parse_terms("1 2 3").has_value());
  CHECK_FALSE(parse_terms("1 2 3 4").has_value());
  CHECK_FALSE(parse_terms("1  2").has_value());
  CHECK_FALSE(parse_terms("").has_value());
}

TEST_CASE("A factor does not overflow") {
  CHECK(parse_term("65536*width").value()({1u << 31, 1, 1}) == std::uint64_t{1} << 47);
}

TEST_CASE("Sizes are read as they are written") {
  for (const char *text : {"1x1", "7680x4320", "64x32x16"}) {
    CHECK(size_text(parse_size(text).value()) == text);
  }
  CHECK(parse_size("5").value() == ProblemSize{5, 1, 1});
  for (const char *text : {"", "0x1", "1x0", "x", "1x", "1x2x3x4", "-1x2", "1x2 ", "2147483649"}) {
    INFO(text);
    CHECK_FALSE(parse_size(text).has_value());
  }
}

TEST_CASE("A product that would wrap is as large as can be said") {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  CHECK(product({}) == 1);
  CHECK(product({3, 5, 7}) == 105);
  CHECK(product({1u << 16, 1u << 16, 1u << 16}) == std::uint64_t{1} << 48);
  CHECK(product({std::uint64_t{1} << 32, std::uint64_t{1} << 32}) == kMax);
  CHECK(product({std::uint64_t{1} << 32, std::uint64_t{1} << 32, 5}) == kMax);
  CHECK(ProblemSize{1u << 31, 1u << 31, 1u << 31}.elements() == kMax);
}
