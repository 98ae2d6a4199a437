// SPDX-License-Identifier: Apache-2.0
// Proves other targets' binaries, and those of the device's own target that they are held against.
#include "builder/crosscheck/cross_results.hpp"

namespace kiln::builder {

using packs::CrossResult;

CrossResults::CrossResults(const packs::Contents &contents, const CallLimits &limits,
                           const ReferenceOptions &references, const std::string &pack)
    : contents_(contents),
      limits_(limits),
      folder_(TemporaryFolder::make()),
      checks_(find_checks(contents.programs, references, pack, pack)) {}

Proof CrossResults::prove(const DeviceInfo &device, const packs::Program &program,
                          const packs::Variant &variant, const packs::Binary &binary) {
  if (!prover_ || &prover_->device() != &device) {
    prover_ = std::make_unique<Prover>(device, limits_, folder_->path());
    own_.clear();
  }
  ProofRequest how{program, variant};
  how.check = &checks_[static_cast<std::size_t>(&program - contents_.programs.data())];
  how.by_itself = true;
  return prover_->prove(how, binary, false);
}

Expectation CrossResults::own_results(const DeviceInfo &device, const packs::Program &program,
                                      const packs::Variant &variant) {
  const auto [place, is_new] = own_.try_emplace(&variant);
  if (!is_new) return place->second;
  for (const packs::Target &target : contents_.targets) {
    if (target.key != device.description.key.text()) continue;
    for (const packs::Binary &binary : target.binaries) {
      if (binary.variant != variant.hash) continue;
      const Proof proof = prove(device, program, variant, binary);
      if (!proof.loaded.ok() || !proof.launched.ok()) continue;
      own_[&variant] = {proof.results, "the device's own binary"};
    }
  }
  return own_[&variant];
}

CrossResults::Seen CrossResults::look(const DeviceInfo &device, const packs::Program &program,
                                      const packs::Variant &variant, const packs::Binary &binary) {
  Seen seen;
  const ResultCheck &check =
      checks_[static_cast<std::size_t>(&program - contents_.programs.data())];
  if (!folder_.ok() || check.off || variant.launches) return seen;
  const Proof proof = prove(device, program, variant, binary);
  if (!proof.loaded.ok()) {
    const bool died = proof.loaded.code == Code::process;
    seen.result = died ? CrossResult::crashed : CrossResult::refused;
    seen.reason = "when it was launched: " + proof.loaded.message;
    return seen;
  }
  if (proof.results.empty()) return seen;
  JobRequest request{device, program, variant, limits_};
  request.check = &check;
  const Expectation expected = check.has_reference(program, variant)
                                   ? expectation_of(request, {}, &references_)
                                   : own_results(device, program, variant);
  packs::Finish ignored;
  const Status status = judge(proof.results, expected, variant.tolerance, &ignored);
  if (status.ok()) return seen;
  seen.result = CrossResult::wrong;
  seen.reason = status.message;
  return seen;
}

}  // namespace kiln::builder
