// SPDX-License-Identifier: Apache-2.0
// How a status travels from a child process to its parent. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// {"error": message, "code": the code's number}, with "cl_error" where OpenCL gave a code; {} where
// the status is ok.
nlohmann::json to_json(const Status &status);

// Back again; ok where `answer` has no "error". What else the answer holds is left alone.
Status status_from(const nlohmann::json &answer);

}  // namespace kiln::builder
