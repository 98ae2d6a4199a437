// SPDX-License-Identifier: Apache-2.0
// What decides a job's answer, as the store keys it. Pure.
#pragma once

#include <string>

#include "builder/finish/job_request.hpp"
#include "builder/store/store.hpp"

namespace kiln::builder {

// Raised whenever the builder makes other answers of the same inputs: another finisher, another
// proof, other members of JobRunner::run()'s answer.
inline constexpr int kRecipe = 3;

// Everything that is known of device and driver, as canonical JSON: every identity string but the
// device's UUID, which names one board, the binary key and the driver's compiler library.
std::string platform_of(const DeviceInfo &device);

// Programs and variants are told apart by their hashes: their names are not in the key, nor is the
// time that a job may take. `platform` is platform_of(request.device).
Action action_of(const JobRequest &request, const std::string &platform);

// What the store is told of an answer of JobRunner::run(): failed where a process died in it, even
// if a binary came of it in the end.
JobState state_of(const nlohmann::json &answer);

}  // namespace kiln::builder
