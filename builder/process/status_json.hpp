// SPDX-License-Identifier: Apache-2.0
// A status as JSON, as a child process sends it to its parent. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// Returns {"error": message, "code": the code's number}, with "cl_error" if OpenCL gave a code; {}
// if the status is ok.
nlohmann::json to_json(const Status &status);

// Converts back; ok if `answer` has no "error". Ignores the answer's other members.
Status status_from(const nlohmann::json &answer);

}  // namespace kiln::builder
