// SPDX-License-Identifier: Apache-2.0
// A job for a device that is not there.
#pragma once

#include <nlohmann/json.hpp>

#include "builder/finish/job_request.hpp"

namespace kiln::builder {

// The answer that JobRunner::run() gives, of a request whose device has an offline compiler. The
// binary is marked as never loaded: nothing here could.
nlohmann::json run_offline_job(const JobRequest &request);

}  // namespace kiln::builder
