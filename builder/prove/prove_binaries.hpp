// SPDX-License-Identifier: Apache-2.0
// Checks that a job's binaries must pass before they are packed: they are loaded, launched and
// compared.
#pragma once

#include <functional>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/finish/job.hpp"
#include "builder/prove/proof.hpp"
#include "builder/prove/result_check.hpp"

namespace kiln::builder {

// Returns the expected results of binaries, for the job or for a duplicate; called after a launch.
using Expect = std::function<Expectation(const Job &job)>;

// Proves each binary of make_binaries() and records the outcome in it. `answer` has the log and the
// kernels. Fails with the status of the first failed proof if no binary is left, and with
// Code::failed if no binary was made.
Result<nlohmann::json> prove_binaries(const Job &job, const Expect &expect, Prover *prover,
                                      nlohmann::json answer);

}  // namespace kiln::builder
