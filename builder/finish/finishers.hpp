// SPDX-License-Identifier: Apache-2.0
// What makes a driver's binary final, by its profile (runtime/identity/identity.hpp, Finishing),
// and how a job's binaries travel from its processes to the builder.
#pragma once

#include <functional>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/finish/job_request.hpp"
#include "builder/finish/proof.hpp"
#include "runtime/load/build.hpp"

namespace kiln::builder {

// A binary with its finish and auxiliary blob, and back. The log and the kernels' info are other
// members of the same answer.
nlohmann::json to_json(const packs::Binary &binary);
packs::Binary binary_from(const packs::Variant &variant, const nlohmann::json &in);

// Runs in the process that built the program. Takes the binary of `built` from the driver, calling
// `build` if the finisher needs the program built again, and finishes it if the request says so.
// The answer has "binary", "intermediate" or both, and "also"; or it is a failed status
// (status_json.hpp). A finisher that fails is no error: the driver's binary is kept, and its
// `finish` says why it is not final.
nlohmann::json make_binaries(const runtime::Device &device, const JobRequest &request,
                             const runtime::BuiltProgram &built,
                             const std::function<runtime::BuildOutcome()> &build);

// Whether make_binaries() left this process so that it must make no others.
bool is_spent();

// Proves each binary of make_binaries() and records the outcome in it. `answer` has log and
// kernels. Fails with the first proof's status if no binary is left, and with Code::failed where
// none was made.
Result<nlohmann::json> prove_binaries(const JobRequest &request, Prover *prover,
                                      nlohmann::json answer);

}  // namespace kiln::builder
