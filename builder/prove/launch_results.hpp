// SPDX-License-Identifier: Apache-2.0
// Launches a program once for its results. Only for processes that may end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/finish/job_request.hpp"
#include "builder/launch/opened_pack.hpp"
#include "builder/problem/program_shape.hpp"
#include "builder/prove/result_check.hpp"

namespace kiln::builder {

inline constexpr char kIdle[] = "this device cannot execute kernels here";

// Does the same as ask_executes(). Fails with Code::requirement if the device cannot be asked.
Status executes_commands(const OpenedPack &opened, bool *out);

// Returns the program without source and IL. Keeps all variants, since they determine its planes.
packs::Program without_code(packs::Program program);

// Launches a problem of that size, with outputs that were zeros, and returns its results. Without
// `inputs` uses make_inputs(). If the launch fails, `none` says why.
Results launch_results(const OpenedPack &opened, const kiln::Program &loaded,
                       const packs::Program &program, const packs::Variant &variant,
                       const ProblemSize &size, std::optional<std::vector<Plane>> inputs = {});

// Returns the results of a program just built from source: of its recorded launches, or of the
// problem of the request's check. Writes the pack for the launch to `path`. `opened` must have its
// device open.
Results source_results(const JobRequest &request, OpenedPack *opened, runtime::BuiltProgram built,
                       const std::string &path);

}  // namespace kiln::builder
