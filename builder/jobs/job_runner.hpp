// SPDX-License-Identifier: Apache-2.0
// A job of a build: one variant for one device. One process compiles and finishes, others prove the
// binaries.
#pragma once

#include <atomic>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/finish/job.hpp"
#include "builder/machine/device_info.hpp"
#include "builder/prove/clean_child.hpp"
#include "builder/prove/proof.hpp"
#include "builder/prove/result_check.hpp"
#include "builder/run/pack_on_device.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Stage of a job, which tells why its process died.
enum class JobStage : int { compiling, finishing, launching };

// Runs in a process that may die, and reports its stages to `stage`. Returns a failed status
// (child_process.hpp), or the answer of make_binaries(), with "kernels" unless only the proof
// creates them; with "log" if the driver gave one, and with "results" if binaries are compared with
// the program built here. `opened` must have its device open. Writes a pack for the launch to
// `path`.
nlohmann::json compile_job(Job job, PackOnDevice *opened, const std::string &path,
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
  bool proven_again = false;  // earlier binaries, which were not compiled
};

// What was wrong with a job's binary as its variant says it.
struct JobFault {
  std::string what{};        // a sentence without a full stop; empty: nothing
  std::string workaround{};  // with which the packed binary is right; empty: none was found
  bool il_is_right = false;
  int slower = 0;  // percent by which that binary is slower than the wrong one
};
JobFault fault_of(const nlohmann::json &answer);

JobResult job_result(const packs::Variant &variant, const nlohmann::json &answer);

// Removes binaries without a proof. Fails with Code::failed and the reason if nothing for the
// device is left.
Status drop_unproven(JobResult *result, bool by_reference);

// A number that a process shares with its forked children, which may outlive it. Stays 0 if the
// system has no memory for it.
class SharedNumber {
 public:
  SharedNumber() {
    void *page = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) value_ = new (page) std::atomic<int>(0);
  }
  ~SharedNumber() {
    if (value_ != nullptr) munmap(value_, sizeof(*value_));
  }
  SharedNumber(const SharedNumber &) = delete;

  int get() const { return value_ != nullptr ? value_->load() : 0; }
  void set(int value) {
    if (value_ != nullptr) value_->store(value);
  }

 private:
  std::atomic<int> *value_ = nullptr;
};

// Runs jobs in child processes. The caller must be single-threaded and have loaded no driver, as
// ServingChild requires.
class JobRunner {
 public:
  // Returns the job of the job with that number; objects to which it refers outlive the runner.
  using Resolve = std::function<Job(std::size_t number)>;

  // `folder` must exist. It is for the drivers' caches; the caller removes leftover files.
  JobRunner(Resolve resolve, std::string folder);

  // Returns the job's answer: a failed status (child_process.hpp), or the input of job_result(). A
  // job that fails in a process that did others before is done again in a fresh one, unless the
  // fault is the program's or the job timed out.
  nlohmann::json run(std::size_t number);

  // Returns whether no process of the runner died, but for those that launched without hardware. If
  // one did, a newly forked runner starts its processes from the same memory as this one did.
  bool is_well() const { return !died_; }

  // An answer with the time of a launch, in milliseconds.
  struct Measured {
    nlohmann::json answer{};
    double milliseconds = 0;
    std::size_t workaround = 0;  // as in Job
  };

 private:
  // Steps that were left out of a job since its process died in them, each with the reason.
  struct LeftOut {
    std::string gpu_archs{};
    std::string finisher{};
    std::string results{};
    std::string endless{};  // repeated launches
  };
  bool leave_out(const ChildResult &died, Job *how, LeftOut *what) const;
  nlohmann::json make(std::size_t number, const Job &job);
  Measured make_measured(std::size_t number, Job job, std::size_t workaround);
  nlohmann::json work_around(std::size_t number, const Job &job, nlohmann::json answer);
  Result<nlohmann::json> prove(const Job &job, const Results &built, nlohmann::json answer);
  std::optional<nlohmann::json> prove_again(const Job &job);
  ChildResult compile(std::size_t number, const Job &how);
  ChildResult call(std::size_t number, const Job &how);
  nlohmann::json compile_here(const nlohmann::json &order);

  Resolve resolve_;
  std::string folder_;
  CleanChild compiler_;
  std::size_t device_ = 0;             // index of that process's device
  std::optional<SharedNumber> stage_;  // JobStage of the job that is being compiled
  std::optional<Prover> prover_;
  ExpectedResults references_;
  bool died_ = false;
  PackOnDevice opened_;  // only in the child
};

}  // namespace kiln::builder
