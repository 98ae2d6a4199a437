// SPDX-License-Identifier: Apache-2.0
// A virtual device, one that this machine does not have: how its binaries are made and what packs
// record about them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/process/child_result.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// The first argument of a kiln that another one started to run jobs with its driver; the second is
// a folder for both. There lie a job's variant, in a pack of its own, and the pack with its binary.
inline constexpr char kAnswerJobs[] = "--answer-jobs";
inline std::string posed_job_input(const std::string &folder, std::size_t job) {
  return folder + "/" + std::to_string(job) + ".kiln";
}
inline std::string posed_job_output(const std::string &folder, std::size_t job) {
  return folder + "/" + std::to_string(job) + ".made.kiln";
}

// A compiler, or a driver that is told to be that device. Immutable once made.
class VirtualDevice {
 public:
  struct Made {
    packs::Bytes binary;  // as the driver of such a device accepts it
    std::string log;      // the tools' messages; mostly empty
    // The following fields are set by drivers only. Compilers leave them, since nothing has loaded
    // their binaries.
    packs::Finish finish{};
    std::vector<packs::KernelFacts> kernels{};
    std::optional<packs::Bytes> cache_entries{};
    std::vector<packs::Statistic> statistics{};
    std::uint64_t build_microseconds = 0, load_microseconds = 0;
  };

  virtual ~VirtualDevice() = default;

  // The device in messages: "nvidia:sm_90".
  virtual const std::string &name() const = 0;
  // How the binaries are made; packs keep this text as the finisher: "virtual-described
  // 1, ocloc 22.43, description 1f3a09c2". Begins with "virtual-"; for a compiler, equal texts mean
  // equal bytes for equal variants.
  virtual const std::string &finisher() const = 0;
  // The oldest driver that accepts the binaries; empty if every driver with the binary key does.
  virtual const std::string &driver() const = 0;
  // Compiles the variant's source, or its IL if the device accepts IL. `limits` apply to each step;
  // `finish` concerns drivers only and is as in BuildOptions. Fails with Code::requirement for a
  // variant that it cannot make code for, with Code::bad_input for a program that it refuses, with
  // Code::failed if either the program or the machine may be at fault, with Code::process for a
  // tool that dies, hangs, takes too much memory or wrongly reports success, and with OpenCL's
  // error code as a driver does. The message names the fault and ends with the tool's output.
  virtual Result<Made> compile(const packs::Variant &variant, const CallLimits &limits,
                               bool finish) const = 0;
};

// Whether no device has launched the binary, because it was made for a virtual device.
inline bool is_virtual(const packs::Finish &finish) {
  return finish.finisher.starts_with("virtual-");
}

// The finishers of binaries that Intel's and Mesa's drivers made as another GPU, and have loaded;
// the finisher continues with " as skl".
inline constexpr char kNeoFinisher[] = "virtual-neo 1";
inline constexpr char kMesaFinisher[] = "virtual-mesa 1";
inline bool is_by_driver(const packs::Finish &finish) {
  return finish.finisher.starts_with(kNeoFinisher) || finish.finisher.starts_with(kMesaFinisher);
}

// Begins the reason of a binary whose launch ended the process, where the device is not there.
inline constexpr char kLaunchDied[] = "launching it: ";

}  // namespace kiln::builder
