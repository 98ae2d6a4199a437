// SPDX-License-Identifier: Apache-2.0
// One job of a build: compiles a variant with an open device.
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

// Returns the part of a variant that the device compiles: its source, or its IL if the device takes
// no source; null if the device takes neither.
const packs::BlobSource *job_input(const packs::Variant &variant, const DeviceInfo &device);

// Stage of a job, which tells why its process died.
enum class JobStage : int { compiling, finishing, launching };

// Runs in a process that may die, and reports its stages to `stage`. Returns a failed status
// (status_json.hpp), or the answer of make_binaries(), with "kernels" unless only
// the proof creates them; with "log" if the driver gave
// one, and with "results" if binaries are compared with the program built here. `opened` must have
// its device open. Writes a pack for the launch to `path`.
nlohmann::json compile_job(const JobRequest &request, OpenedPack *opened, const std::string &path,
                           const std::function<void(JobStage)> &stage);

// Result of a job: the final binary, or the driver's own if finishing failed. If the driver
// compiles its own form at each load (NVIDIA's PTX), that form is the intermediate, with or without
// a binary.
struct JobResult {
  struct OtherGpu {
    std::uint32_t compute_capability = 0;
    std::optional<packs::Binary> binary{};
    Status status{};  // failed: there is no binary
  };

  std::optional<packs::Binary> binary{};
  std::optional<packs::Binary> intermediate{};
  std::vector<OtherGpu> other_gpus{};
  // Time that the driver took to build the program, and to load its binary in another process; 0:
  // not known.
  std::uint64_t build_microseconds = 0;
  std::uint64_t load_microseconds = 0;
};

JobResult job_result(const packs::Variant &variant, const nlohmann::json &answer);

// Removes binaries without a proof. Fails with Code::failed and the reason if nothing for the
// device is left.
Status drop_unproven(JobResult *result, bool by_reference);

}  // namespace kiln::builder
