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

// Names and versions of finishers, and what is said of PTX.
inline constexpr char kLinker[] = "nvidia-linker 1";
inline constexpr char kWorkGroups[] = "pocl-work-groups 1";
inline constexpr char kShaderCache[] = "mesa-shader-cache 1";
inline constexpr char kPtx[] = "the driver compiles this form whenever it loads it";

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

}  // namespace kiln::builder
