// SPDX-License-Identifier: Apache-2.0
// Gives binaries to drivers in child processes, and records how each took them.
#include "builder/prove/crosscheck.hpp"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "builder/device/opened_device.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/status_json.hpp"
#include "builder/prove/proof.hpp"
#include "builder/prove/result_check.hpp"
#include "kiln/packs/bytes.hpp"
#include "runtime/load/build.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using packs::CrossResult;

// Binaries of one target to try on one device.
struct Trial {
  std::size_t device;
  std::size_t target;
  struct Given {
    const packs::Program *program;
    const packs::Variant *variant;
    const packs::Binary *binary;
  };
  std::vector<Given> binaries;
};

// Checks the results of other targets' binaries that a device took.
class CrossResults {
 public:
  // `contents` must outlive this object; `pack` is the file of the contents.
  CrossResults(const packs::Contents &contents, const CallLimits &limits,
               const ReferenceOptions &references, const std::string &pack);

  struct Seen {
    packs::CrossResult result = packs::CrossResult::native;
    std::string reason{};
  };

  // Launches the variant's binary in a process of its own, and compares its results with the
  // program's reference, else with the results of the device's own binary. Returns crashed, refused
  // or wrong with the reason, or native: the results are right, or there is nothing to compare
  // with.
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
  std::vector<ResultCheck> checks_;  // one for each program, in their order
  ExpectedResults references_;
  std::unique_ptr<Prover> prover_;
  std::map<const packs::Variant *, Expectation> own_{};  // results on the prover's device
};

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

struct Taken {
  CrossResult result = CrossResult::native;
  std::string reason;
  std::string output;
};

// Returns the first program that has the variant, and the variant; nulls if there is none.
Trial::Given find_given(const packs::Contents &contents, const packs::Binary &binary) {
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (variant.hash == binary.variant) return {&program, &variant, &binary};
    }
  }
  return {};
}

Trial make_trial(const packs::Contents &contents, const std::vector<DeviceInfo> &devices,
                 std::size_t device, std::size_t target) {
  Trial trial{device, target, {}};
  for (const packs::Binary &binary : contents.targets[target].binaries) {
    const Trial::Given given = find_given(contents, binary);
    if (given.variant == nullptr) continue;
    const auto &requirements = given.variant->requirements;
    if (!runtime::check_requirements(requirements, devices[device].capabilities).ok()) continue;
    trial.binaries.push_back(given);
  }
  return trial;
}

std::vector<Trial> make_trials(const packs::Contents &contents,
                               const std::vector<DeviceInfo> &devices, bool all) {
  std::vector<Trial> trials;
  std::set<std::string> seen;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::string &key = devices[d].description.key.text();
    const runtime::Facts &own = devices[d].description.key.facts();
    if (!seen.insert(key).second) continue;
    for (std::size_t t = 0; t < contents.targets.size(); ++t) {
      const packs::Target &target = contents.targets[t];
      if (target.key == key) continue;
      if (!all && target.profile != devices[d].description.profile) continue;
      const auto facts = runtime::parse_facts(target.key).value_or(runtime::Facts());
      if (runtime::both_have_and_differ(facts, own, "address_bits")) continue;
      Trial trial = make_trial(contents, devices, d, t);
      if (!trial.binaries.empty()) trials.push_back(std::move(trial));
    }
  }
  return trials;
}

json answer(CrossResult result, const std::string &reason) {
  return {{"result", static_cast<std::uint32_t>(result)}, {"reason", reason}};
}

// Runs in the child. Returns {"result", "reason"}, or a failed status if the binary was never
// tried.
json try_binary(const DeviceInfo &info, const packs::Variant &variant, const packs::Bytes &bytes) {
  OpenedDevice child;
  if (const Status s = child.open(info); !s.ok()) return to_json(s);
  std::vector<runtime::ExpectedKernel> expected;
  for (const packs::Kernel &kernel : variant.kernels) {
    expected.push_back({kernel.name, kernel.arguments});
  }
  const auto outcome =
      runtime::build_program(*child.device, child.context.get(), runtime::Form::binary,
                             {bytes.data(), bytes.size()}, {}, expected);
  if (!outcome.error.ok()) {
    const bool built = !outcome.built.kernels.empty();  // the build reached the kernels
    return answer(built ? CrossResult::wrong : CrossResult::refused, outcome.error.message);
  }
  packs::Bytes now;
  const Status status = runtime::program_binary(*child.device, outcome.built.program.get(), &now);
  if (!status.ok()) {
    return answer(CrossResult::recompiled,
                  "what the driver made of it cannot be read: " + status.message);
  }
  if (now == bytes) return answer(CrossResult::native, "");
  return answer(CrossResult::recompiled, "the driver's binary afterwards is another");
}

// Tries one binary in a child process. An empty blob is refused: the runtime never gives one to a
// driver.
Status take(const DeviceInfo &device, const packs::Variant &variant, const packs::Binary &binary,
            std::chrono::milliseconds timeout, Taken *taken) {
  packs::Bytes bytes;
  if (Status status = binary.blob.read(&bytes); !status.ok()) return status;
  if (bytes.empty()) {
    *taken = {CrossResult::refused, "the pack's blob is empty", {}};
    return {};
  }
  ChildResult child = fork_call([&] { return try_binary(device, variant, bytes); }, timeout);
  const Status status = child.status();
  if (!status.ok() && (child.ok() || child.end == ProcessEnd::not_started)) {
    return {Code::io_error, status.message};
  }
  if (!child.ok()) {
    const std::string output = std::exchange(child.output, {});
    *taken = {CrossResult::crashed, child.reason(), output};
  } else {
    *taken = {static_cast<CrossResult>(child.answer["result"].get<std::uint32_t>()),
              child.answer["reason"],
              {}};
  }
  return {};
}

}  // namespace

Status cross_check(const packs::Contents &contents, const std::string &pack,
                   const std::vector<DeviceInfo> &devices, const CrossCheckOptions &options,
                   const CrossCheckProgress &progress, std::vector<CrossCheckOutcome> *outcomes) {
  CrossResults results(contents, {options.timeout}, options.references, pack);
  const std::vector<Trial> trials = make_trials(contents, devices, options.all);
  std::size_t all = 0;
  for (const Trial &trial : trials) all += trial.binaries.size();
  std::size_t done = 0;
  std::vector<CrossCheckOutcome> result;
  for (const Trial &trial : trials) {
    const DeviceInfo &device = devices[trial.device];
    const std::string what = target_label(contents.targets[trial.target]) + " on " + device.label();
    CrossCheckOutcome outcome{trial.device, trial.target, CrossResult::native, 0, {}, {}};
    for (const auto &[program, variant, binary] : trial.binaries) {
      if (progress) progress(what, done + outcome.binaries, all);
      Taken taken;
      if (auto status = take(device, *variant, *binary, options.timeout, &taken); !status.ok()) {
        status.message =
            variant_label(contents, binary->variant) + " of " + what + ": " + status.message;
        return status;
      }
      if (taken.result == CrossResult::native) {
        const CrossResults::Seen seen = results.look(device, *program, *variant, *binary);
        taken = {seen.result, seen.reason, {}};
      }
      ++outcome.binaries;
      if (taken.result > outcome.result) {
        outcome.result = taken.result;
        outcome.reason = std::move(taken.reason);
        outcome.output = std::move(taken.output);
      }
      if (taken.result == CrossResult::crashed) break;
    }
    done += trial.binaries.size();
    result.push_back(std::move(outcome));
  }
  *outcomes = std::move(result);
  return {};
}

packs::Contents records_of(const packs::Contents &contents, const std::vector<DeviceInfo> &devices,
                           const std::vector<CrossCheckOutcome> &outcomes) {
  packs::Contents records;
  for (const CrossCheckOutcome &outcome : outcomes) {
    records.cross_checks.push_back({devices[outcome.device].description.key.hash(),
                                    packs::xxh3(contents.targets[outcome.target].key),
                                    static_cast<std::uint32_t>(outcome.result)});
  }
  return records;
}

}  // namespace kiln::builder
