// SPDX-License-Identifier: Apache-2.0
// A load report for people.
#pragma once

#include <string>

#include "runtime/load/report.hpp"

namespace kiln::builder {

// One line a rung, then what else is known, and the nearest target where no binary was exact.
std::string report_text(const runtime::Report &report);

}  // namespace kiln::builder
