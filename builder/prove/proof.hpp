// SPDX-License-Identifier: Apache-2.0
// Loads and launches new binaries once as an application would: through the runtime, from a pack,
// in a process that did not make them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "builder/finish/launch_sizes.hpp"
#include "builder/finish/launch_twice.hpp"
#include "builder/finish/mesa_cache_folder.hpp"
#include "builder/machine/device_info.hpp"
#include "builder/prove/clean_child.hpp"
#include "builder/prove/result_check.hpp"
#include "builder/run/pack_on_device.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Returns the target of a device, without binaries.
packs::Target make_target(const DeviceInfo &device);

struct ProofRequest {
  const packs::Program &program;
  const packs::Variant &variant;
  TunedSizes tuned{};                    // for recorded launches without a size
  bool launch = true;                    // false: only load
  const ResultCheck *check = nullptr;    // problem to launch for its results; null: none
  bool by_itself = false;                // in a process that proves nothing else
  bool from_source = false;              // what the driver makes of the variant, not the binary
  bool suggests = true;                  // ask the driver for work-group sizes
  std::uint64_t build_microseconds = 0;  // as in Job
  bool measure = false;                  // as in Job
  // For drivers with Mesa's cache: the place of its entries, and the file names of the entries in
  // the binary's cache entries.
  std::string_view place{};
  std::vector<std::string> names{};
};

struct Proof {
  Status loaded{};          // Code::process: the process ended; else the driver refused
  bool is_endless = false;  // a launch did not end, and no other process should repeat it
  Status launched{};        // if failed, why a requested launch did not happen
  FirstLaunch launch{};
  double milliseconds = 0;  // of a launch of measured_problem(), if that was asked for
  Results results{};        // after a launch, if they are wanted
  bool recompiled = false;  // the driver's binary differed after the load
  std::uint64_t load_microseconds = 0;
  nlohmann::json kernels = nlohmann::json::array();  // kernel_rows() after the load
  // Entries of the place that Mesa compiled, as a blob of cache entries, and the names of all files
  // that it wrote.
  packs::Bytes entries{};
  std::vector<std::string> names{};
};

// Proves binaries of one device, one after another in one process while all goes well. The caller
// must be single-threaded and have loaded no driver, as ServingChild requires.
class Prover {
 public:
  // `folder` must exist. It is for the drivers' caches and for packs; the caller removes leftover
  // files. `device` must outlive the prover.
  Prover(const DeviceInfo &device, const CallLimits &limits, std::string folder);
  Prover(const Prover &) = delete;

  const DeviceInfo &device() const { return device_; }
  // Returns whether one of the prover's processes ended before it answered.
  bool has_died() const { return died_; }
  // Returns the time of a launch of the last binary that was measured, in milliseconds; 0: none
  // was.
  double measured() const { return measured_; }
  void forget_measured() { measured_ = 0; }

  // Loads the variant's `binary` by the exact rung, or by the intermediate rung if `intermediate`.
  // If that fails in a process that did others before, it is done again in a fresh one, unless it
  // timed out or a launch did not end. At each load Mesa's cache holds the entries from opening the
  // device and the binary's cache entries.
  Proof prove(const ProofRequest &job, const packs::Binary &binary, bool intermediate);

  // Calls prove(), and repeats it up to five times, each by itself, while the first launch seems to
  // compile: a busy machine may delay one launch, or three, but not six.
  Proof prove_final(ProofRequest job, const packs::Binary &binary);

 private:
  ChildResult call(const packs::Variant &variant, nlohmann::json order);
  Status open_here(const std::string &pack, const std::string &caches, bool suggests);
  nlohmann::json prove_here(const nlohmann::json &order);

  const DeviceInfo &device_;
  CallLimits limits_;
  std::string folder_;
  CleanChild child_;
  bool died_ = false;
  double measured_ = 0;
  PackOnDevice opened_;              // only in the child
  std::optional<MesaFiles> mesa_{};  // only in the child, for a driver with Mesa's cache
};

}  // namespace kiln::builder
