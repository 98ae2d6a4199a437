// SPDX-License-Identifier: Apache-2.0
// What a job's binaries must pass before they are packed: loaded, launched and compared.
#pragma once

#include <functional>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/finish/job_request.hpp"
#include "builder/prove/proof.hpp"
#include "builder/prove/result_check.hpp"

namespace kiln::builder {

// Tells what binaries are to compute, of the job or of a twin; called where they were launched.
using Expect = std::function<Expectation(const JobRequest &request)>;

// Proves each binary of make_binaries() and records the outcome in it. `answer` has log and
// kernels. Fails with the first proof's status if no binary is left, and with Code::failed where
// none was made.
Result<nlohmann::json> prove_binaries(const JobRequest &request, const Expect &expect,
                                      Prover *prover, nlohmann::json answer);

}  // namespace kiln::builder
