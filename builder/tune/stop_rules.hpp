// SPDX-License-Identifier: Apache-2.0
// How long tuning measures, and what it gives up (docs/tuning.md).
#pragma once

#include <cstddef>

#include "builder/measure/sampler.hpp"

namespace kiln::builder {

inline constexpr double kSlowest = 1e9;       // nanoseconds of a launch that is worth a search
inline constexpr double kMinLaunches = 15;    // about, without any search
inline constexpr std::size_t kFailures = 5;   // in a row, after which a search ends
inline constexpr std::size_t kFinalists = 3;  // that are measured again
inline constexpr StopRule kSearchRule{3, 15, 0.02, 50e6};
inline constexpr StopRule kFinalRule{5, 51, 0.01, 300e6};

}  // namespace kiln::builder
