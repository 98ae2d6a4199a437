// SPDX-License-Identifier: Apache-2.0
// What one job of a build makes of a variant with an open device.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "builder/finish/job_request.hpp"
#include "builder/launch/opened_pack.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// What the device compiles of a variant: its source, or its IL where the device takes no source;
// null if it takes neither.
const packs::BlobSource *job_input(const packs::Variant &variant, const DeviceInfo &device);

// How far a job is, for whoever asks why its process died.
enum class JobStage : int { compiling, finishing, launching };

// In a process that may die, which tells `stage` what it is at: a failed status (status_json.hpp),
// or what make_binaries() says and "kernels"; with "log" where the driver gave one, and with
// "results" where the program that was built is what binaries are compared with. `opened` has its
// device; a pack for the launch is written to `path`.
nlohmann::json compile_job(const JobRequest &request, OpenedPack *opened, const std::string &path,
                           const std::function<void(JobStage)> &stage);

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
  // What building the program took the driver, and loading its binary in another process; 0: not
  // known.
  std::uint64_t build_microseconds = 0;
  std::uint64_t load_microseconds = 0;
};

JobResult job_result(const packs::Variant &variant, const nlohmann::json &answer);

// Takes out what has no proof. Fails with Code::failed, saying why, where nothing for the device is
// left.
Status drop_unproven(JobResult *result, bool by_reference);

}  // namespace kiln::builder
