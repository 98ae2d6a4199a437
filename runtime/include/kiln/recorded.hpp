// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over recorded.h; link kiln::recorded.
#pragma once

#include <string_view>

#include "kiln/kiln.hpp"
#include "kiln/recorded.h"

namespace kiln {

/// Finds the name of a program in packs of recorded programs; see kiln_recorded_name().
inline Result<std::string> recorded_name(std::string_view source, const std::string &options) {
  char name[KILN_RECORDED_NAME_SIZE] = {};
  const Status status = detail::call([&](kiln_error *error) {
    kiln_recorded_name(source.data(), source.size(), options.c_str(), name, sizeof(name), error);
  });
  if (!status.ok()) return status;
  return std::string(name);
}

}  // namespace kiln
