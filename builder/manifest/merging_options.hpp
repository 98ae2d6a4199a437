// SPDX-License-Identifier: Apache-2.0
// Options with which Mali's compiler makes one work-item of several, and what they demand of a
// launch. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// What is merged by -fkernel-vectorizer=DIMENSIONFACTOR and -fkernel-unroller=DIMENSIONFACTOR.
struct MergedItems {
  std::string option{};                          // the first of them; empty: none is there
  std::array<std::uint32_t, 3> factor{1, 1, 1};  // work-items in each dimension
};

// Of a variant's options, joined by spaces. Fails with Code::bad_input, in two lines of which the
// second says what is expected, for an option without a dimension (x, y or z) and a factor (2, 4, 8
// or 16): without them it is the compiler who chooses, and no launch can be held to that.
Result<MergedItems> merged_items(std::string_view options);

// "4x2", as the requirement range_multiple has it.
std::string multiple_text(const std::array<std::uint32_t, 3> &factor);

}  // namespace kiln::builder
