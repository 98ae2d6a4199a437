// SPDX-License-Identifier: Apache-2.0
// Failures with the same log together, since one fault of a source or a driver fails many jobs.
#pragma once

#include <string>
#include <vector>

#include "builder/build/device_build.hpp"

namespace kiln::builder {

struct FailureGroup {
  std::string text;
  std::vector<std::string> jobs;  // at least one
};

// In the order of the first of each; the jobs, too, keep their order. Pure.
std::vector<FailureGroup> group_failures(const std::vector<JobFailure> &failures);

}  // namespace kiln::builder
