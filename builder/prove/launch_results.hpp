// SPDX-License-Identifier: Apache-2.0
// Launching a program once for its results. For processes that may end.
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

// As ask_executes(), where the device can be asked.
Status executes_commands(const OpenedPack &bench, bool *out);

// The program without source and IL, but with all variants: its planes follow from them.
packs::Program without_code(packs::Program program);

// Of a problem of that size, with outputs that were zeros; inputs that are not given are those of
// make_inputs(). Where it cannot be launched, `none` says why.
Results launch_results(const OpenedPack &bench, const kiln::Program &loaded,
                       const packs::Program &program, const packs::Variant &variant,
                       const ProblemSize &size, std::optional<std::vector<Plane>> inputs = {});

// Of a program that was just built from source, of its recorded launches or of the problem of the
// request's check. Writes the pack that the launch needs to `path`. `bench` has its device.
Results source_results(const JobRequest &request, OpenedPack *bench, runtime::BuiltProgram built,
                       const std::string &path);

}  // namespace kiln::builder
