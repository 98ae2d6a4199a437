// SPDX-License-Identifier: Apache-2.0
// What one job of a build makes of a variant with an open device.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/finish/job_request.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// What the device compiles of a variant: its source, or its IL where the device takes no source;
// null if it takes neither.
const packs::BlobSource *job_input(const packs::Variant &variant, const DeviceInfo &device);

// In a process that may die: a failed status (status_json.hpp), or what make_binaries() says and
// "kernels"; with "log" where the driver gave one.
nlohmann::json compile_job(const JobRequest &request, const OpenedDevice &opened);

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
