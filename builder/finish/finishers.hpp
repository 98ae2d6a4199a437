// SPDX-License-Identifier: Apache-2.0
// Finishers, which make a driver's binary final, by profile (runtime/identity/identity.hpp,
// Finishing); and the JSON in which a job's processes send binaries to the builder.
#pragma once

#include <functional>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/finish/job.hpp"
#include "runtime/load/build.hpp"

namespace kiln::builder {

// Names and versions of finishers, and reasons why a binary is not final.
inline constexpr char kLinker[] = "nvidia-linker 1";
inline constexpr char kWorkGroups[] = "pocl-work-groups 1";
inline constexpr char kShaderCache[] = "mesa-shader-cache 1";
inline constexpr char kNoLaunch[] = "no launch is known, so it was not finished";
inline constexpr char kPtx[] = "the driver compiles this form whenever it loads it";

// Convert a binary, with its finish and cache entries, to JSON and back. The log and the kernels'
// info are other members of the same answer.
nlohmann::json to_json(const packs::Binary &binary);
packs::Binary binary_from(const packs::Variant &variant, const nlohmann::json &in);

// Runs in the process that built the program. Takes the binary of `built` from the driver, calling
// `build` if the finisher needs the program built again, and finishes it if the job says so.
// The answer has "binary", "intermediate" or both, and "also"; or it is a failed status
// (child_process.hpp). A finisher that fails is no error: the driver's binary is kept, and its
// `finish` says why it is not final. The same if no work-group size is known for which to finish
// it.
nlohmann::json make_binaries(const runtime::Device &device, const Job &job,
                             const runtime::BuiltProgram &built,
                             const std::function<runtime::BuildOutcome()> &build);

// Returns whether this process must not call make_binaries() again.
bool needs_new_process();

}  // namespace kiln::builder
