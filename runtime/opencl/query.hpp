// SPDX-License-Identifier: Apache-2.0
// Answers to OpenCL's queries whose size the driver tells first.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "runtime/opencl/library.hpp"

namespace kiln::runtime {

// A larger answer is a driver's mistake.
inline constexpr std::size_t kMaxAnswer = std::size_t{16} << 20;

// Returns the values that a query answers; nothing if it fails or tells an absurd size.
// `ask(room, out, size)` makes the query.
template <typename Values, typename Ask>
std::optional<Values> query_values(const Ask &ask) {
  using Value = typename Values::value_type;
  std::size_t size = 0;
  if (ask(0, nullptr, &size) != CL_SUCCESS || size > kMaxAnswer) return std::nullopt;
  Values values(size / sizeof(Value), Value());
  size = values.size() * sizeof(Value);
  if (size != 0 && ask(size, &values[0], nullptr) != CL_SUCCESS) return std::nullopt;
  return values;
}

// Returns the text that a query answers, up to its zero, which may be missing.
template <typename Ask>
std::optional<std::string> query_text(const Ask &ask) {
  auto text = query_values<std::string>(ask);
  if (text) text->resize(std::min(text->find('\0'), text->size()));
  return text;
}

}  // namespace kiln::runtime
