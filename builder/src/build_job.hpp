// One job of a build: a child process that compiles and finishes, then others that prove the
// binary.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "devices.hpp"
#include "kiln/packs/contents.hpp"
#include "launch_sizes.hpp"

namespace kiln::builder {

// A build log as packs keep it: each absolute path in it is replaced by "<path>", since a
// driver may name its temporary files.
std::string without_paths(const std::string &log);

// What the device compiles of a variant: its source, or its IL where the device takes no source;
// null where it takes neither.
const packs::BlobSource *job_input(const packs::Variant &variant, const DeviceInfo &device);

struct JobRequest {
  const DeviceInfo &device;
  const packs::Program &program;
  const packs::Variant &variant;
  std::chrono::milliseconds timeout;  // for each child, from its start
  bool finish = true;                 // or leave the driver's binary as it is
  TunedSizes tuned{};                 // for the work-group sizes to finish for
  // Compute capabilities, 1000 for 10.0, that NVIDIA's linker is to make code for, too.
  std::vector<std::uint32_t> also{};
  packs::Bytes opening{};  // as harvest_opening() gives it, for drivers with such a cache
};

// The job's answer: {"error"}, or what job_result() takes. As run_isolated asks, the caller is
// single-threaded and has loaded no driver.
nlohmann::json run_job(const JobRequest &request);

// What a job made: the final binary, or the driver's own; or where that is a form that the driver
// compiles at each load (NVIDIA's PTX) both, or that form alone.
struct JobResult {
  struct Also {
    std::uint32_t compute_capability = 0;
    std::optional<packs::Binary> binary{};
    std::string error{};  // why there is none
  };

  std::optional<packs::Binary> binary{};
  std::optional<packs::Binary> intermediate{};
  std::vector<Also> also{};
};

JobResult job_result(const packs::Variant &variant, const nlohmann::json &answer);

}  // namespace kiln::builder
