// SPDX-License-Identifier: Apache-2.0
// New binaries, loaded and launched once as an application would: through the runtime, from a pack,
// in a process that did not make them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "builder/device/device_info.hpp"
#include "builder/finish/launch_sizes.hpp"
#include "builder/finish/launch_twice.hpp"
#include "builder/launch/opened_pack.hpp"
#include "builder/process/serving_child.hpp"
#include "builder/prove/mesa_files.hpp"
#include "builder/prove/result_check.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// The target of a device, without binaries.
packs::Target make_target(const DeviceInfo &device);

struct ProofRequest {
  const packs::Program &program;
  const packs::Variant &variant;
  TunedSizes tuned{};                  // for recorded launches that gave no size
  bool launch = true;                  // or load alone
  const ResultCheck *check = nullptr;  // of the problem to launch for its results; null: none
  bool by_itself = false;              // in a process that proves nothing else
  bool suggests = true;                // the driver is asked for work-group sizes
  // For drivers with Mesa's cache: the place of its entries, and the names of the files of those
  // that the binary's auxiliary blob has.
  std::string_view place{};
  std::vector<std::string> names{};
};

struct Proof {
  Status loaded{};    // Code::process: the process ended, rather than the driver saying no
  Status launched{};  // a failure: why a requested launch did not happen
  FirstLaunch launch{};
  Results results{};        // after a launch, where they are wanted
  bool recompiled = false;  // the driver's binary afterwards is another
  std::uint64_t load_microseconds = 0;
  // What Mesa compiled of its place, as an auxiliary blob, and the files of all that it compiled.
  packs::Bytes entries{};
  std::vector<std::string> names{};
};

// Whether a process has done so much, or holds so much memory, that a fresh one is better.
bool is_worn(const ServingChild &child, const CallLimits &limits);

// Proves binaries of one device, one after another in one process while all goes well. As
// ServingChild asks, the caller is single-threaded and has loaded no driver.
class Prover {
 public:
  // `folder`, which exists, is for the drivers' caches and for packs; what is left there is the
  // caller's to remove. `device` outlives the prover.
  Prover(const DeviceInfo &device, const CallLimits &limits, std::string folder);
  Prover(const Prover &) = delete;

  const DeviceInfo &device() const { return device_; }
  // Whether some process of it ended before it answered.
  bool has_died() const { return died_; }

  // Loads the variant's `binary` by the exact rung, or by the intermediate rung if `intermediate`.
  // What fails in a process that did others before is done again in a fresh one. Mesa's cache has
  // then what it has when the device is opened, and the binary's auxiliary blob.
  Proof prove(const ProofRequest &request, const packs::Binary &binary, bool intermediate);

  // prove(), repeated up to five times, each by itself, while the first launch seems to compile: a
  // busy machine may delay one launch, or three, but not six.
  Proof prove_final(ProofRequest request, const packs::Binary &binary);

 private:
  std::string new_caches();
  ChildResult call(nlohmann::json order);
  Status open_here(const std::string &pack, const std::string &caches, bool suggests);
  nlohmann::json prove_here(const nlohmann::json &order);

  const DeviceInfo &device_;
  CallLimits limits_;
  std::string folder_;
  ServingChild child_;
  std::size_t started_ = 0;  // processes
  std::string caches_;       // of the one that is there
  bool died_ = false;
  OpenedPack opened_;                // in the child alone, and
  std::optional<MesaFiles> mesa_{};  // of a driver with such a cache
};

}  // namespace kiln::builder
