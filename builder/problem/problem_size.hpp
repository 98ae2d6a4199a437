// SPDX-License-Identifier: Apache-2.0
// The size of a problem, and the terms of it in which memory and NDRanges are given.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::builder {

// What is computed: an image, a matrix, a row of values (height and depth 1), or a product of
// matrices (height x width out of height x depth and depth x width). Each at least 1.
struct ProblemSize {
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t depth = 1;
  bool operator==(const ProblemSize &) const = default;

  std::uint64_t elements() const;
};

// 2^64 - 1 if it is that or more: sizes come from people and packs, and a product that wraps is
// small.
std::uint64_t product(std::initializer_list<std::uint64_t> factors);
inline std::uint64_t ProblemSize::elements() const { return product({width, height, depth}); }

// "7680x4320", and with a depth "64x64x64".
std::string size_text(const ProblemSize &size);
// Nothing for any other text, and where a side is 0 or over 2^31.
std::optional<ProblemSize> parse_size(std::string_view text);

// [N*]NAME[/N][+N], the division rounded up; NAME is width, height or depth. Or a number.
struct Term {
  enum class Of : std::uint8_t { one, width, height, depth };
  std::uint32_t factor = 1;
  Of of = Of::one;
  std::uint32_t divisor = 1;
  std::uint32_t more = 0;

  std::uint64_t operator()(const ProblemSize &size) const;
};

inline constexpr const char *kTermRule =
    "expected [N*]NAME[/N][+N] with width, height or depth as NAME, or a number";

// Numbers are 1 to 65536, the one after '+' 0 to 65536.
std::optional<Term> parse_term(std::string_view text);

// One to three terms with a space between them; those that are left out are 1.
std::optional<std::vector<Term>> parse_terms(std::string_view text);
std::array<std::uint64_t, 3> evaluate(const std::vector<Term> &terms, const ProblemSize &size);

}  // namespace kiln::builder
