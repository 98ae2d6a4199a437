// SPDX-License-Identifier: Apache-2.0
// The names of recorded programs, which are made of what the programs consist of.
#pragma once

#include <string_view>

namespace kiln::builder {

// Whether it is "cl-" and 32 hexadecimal digits, as source::program_name() makes it.
inline bool is_recorded_name(std::string_view name) {
  constexpr std::string_view kStart = "cl-";
  constexpr std::size_t kDigits = 32;
  return name.size() == kStart.size() + kDigits && name.substr(0, kStart.size()) == kStart &&
         name.find_first_not_of("0123456789abcdef", kStart.size()) == std::string_view::npos;
}

}  // namespace kiln::builder
