// SPDX-License-Identifier: Apache-2.0
// What another target's binary, which a device took, computes there.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "builder/device/device_info.hpp"
#include "builder/finish/proof.hpp"
#include "builder/finish/result_check.hpp"
#include "builder/process/fork_call.hpp"

namespace kiln::builder {

class CrossResults {
 public:
  // `contents` outlive it; `pack` is the file that they were read from.
  CrossResults(const packs::Contents &contents, const CallLimits &limits,
               const ReferenceOptions &references, const std::string &pack);

  struct Seen {
    packs::CrossResult result = packs::CrossResult::native;
    std::string reason{};
  };

  // Launches the variant's binary in a process of its own, and compares its results with the
  // program's reference, else with what the binary of the device's own target gives. Crashed, wrong
  // with the reason, or native: right, or there is nothing to compare with.
  Seen look(const DeviceInfo &device, const packs::Program &program, const packs::Variant &variant,
            const packs::Binary &binary);

 private:
  Proof prove(const DeviceInfo &device, const packs::Program &program,
              const packs::Variant &variant, const packs::Binary &binary);
  Expectation own_results(const DeviceInfo &device, const packs::Program &program,
                          const packs::Variant &variant);

  const packs::Contents &contents_;
  CallLimits limits_;
  Result<TemporaryFolder> folder_;
  std::vector<ResultCheck> checks_;  // of the programs, in their order
  ExpectedResults references_;
  std::unique_ptr<Prover> prover_;
  std::map<const packs::Variant *, Expectation> own_{};  // of the prover's device
};

}  // namespace kiln::builder
