// SPDX-License-Identifier: Apache-2.0
// One job of a build: a child process that compiles and finishes, then others that prove the
// binary.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "builder/finish/job_request.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// What the device compiles of a variant: its source, or its IL where the device takes no source;
// null if it takes neither.
const packs::BlobSource *job_input(const packs::Variant &variant, const DeviceInfo &device);

// The job's answer: a failed status (status_json.hpp), or what job_result() takes. As fork_call
// asks, the caller is single-threaded and has loaded no driver.
nlohmann::json run_job(const JobRequest &request);

// What a job made: the final binary, or the driver's own if finishing failed. If the driver's own
// form is compiled at each load (NVIDIA's PTX) it is the intermediate, with or without a binary.
struct JobResult {
  struct Also {
    std::uint32_t compute_capability = 0;
    std::optional<packs::Binary> binary{};
    Status status{};  // a failure leaves no binary
  };

  std::optional<packs::Binary> binary{};
  std::optional<packs::Binary> intermediate{};
  std::vector<Also> also{};
};

JobResult job_result(const packs::Variant &variant, const nlohmann::json &answer);

}  // namespace kiln::builder
