// SPDX-License-Identifier: Apache-2.0
// The figures of `kiln-bench kernels` as JSON and as text.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "tests/bench/kiln_bench/kernels.hpp"

namespace kiln::builder {

// Schema 1, one element of "devices".
nlohmann::json to_json(const DeviceRow &row);
// A table for each program and size.
std::string to_text(const DeviceRow &row);

}  // namespace kiln::builder
