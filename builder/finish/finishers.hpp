// SPDX-License-Identifier: Apache-2.0
// What makes a driver's binary final, by its profile (runtime/identity/identity.hpp, Finishing),
// and how a job's binaries travel from its processes to the builder.
#pragma once

#include <functional>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/finish/job_request.hpp"
#include "runtime/load/build.hpp"

namespace kiln::builder {

// A binary with its finish and auxiliary blob, and back; the log and the kernels' facts travel
// beside it.
nlohmann::json to_json(const packs::Binary &binary);
packs::Binary binary_from(const packs::Variant &variant, const nlohmann::json &in);

// For the process that built the program, `built`, and builds it once more by `build`: takes the
// driver's binary and finishes it where the request wants that. {"binary"}, {"intermediate"} or
// both, and "also"; or a failed status (status_json.hpp). What stands in the way of finishing is
// no error: it is in the finish of what there is instead.
nlohmann::json make_binaries(const runtime::Device &device, const JobRequest &request,
                             const runtime::BuiltProgram &built,
                             const std::function<runtime::BuildOutcome()> &build);

// For a process that has loaded no driver: proves what make_binaries() gave, in processes of their
// own, and notes what they saw. `answer` has log and kernels. Fails, as the last proof did, where
// nothing was left.
Result<nlohmann::json> prove_binaries(const JobRequest &request, nlohmann::json answer);

}  // namespace kiln::builder
