// SPDX-License-Identifier: Apache-2.0
// The clock that start-up is measured with.
#pragma once

#include <chrono>

namespace kiln::builder {

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace kiln::builder
