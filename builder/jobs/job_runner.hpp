// SPDX-License-Identifier: Apache-2.0
// Runs jobs of a build one after another: one process compiles and finishes, others prove the
// binaries.
#pragma once

#include <atomic>
#include <functional>
#include <new>
#include <optional>
#include <string>

#include <sys/mman.h>
#include <nlohmann/json.hpp>

#include "builder/finish/job_request.hpp"
#include "builder/jobs/job.hpp"
#include "builder/process/serving_child.hpp"
#include "builder/prove/proof.hpp"
#include "builder/prove/result_check.hpp"

namespace kiln::builder {

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
  // Returns the request of the job with that number; objects to which it refers outlive the runner.
  using Requests = std::function<JobRequest(std::size_t job)>;

  // `folder` must exist. It is for the drivers' caches; the caller removes leftover files.
  JobRunner(Requests requests, std::string folder);

  // Returns the job's answer: a failed status (status_json.hpp), or the input of job_result(). A
  // job that fails in a process that did others before is done again in a fresh one, unless the
  // fault is the program's or the job timed out.
  nlohmann::json run(std::size_t job);

  // Returns whether no process of the runner died. If one did, a newly forked runner starts its
  // processes from the same memory as this one did.
  bool is_well() const { return !died_; }

 private:
  // Steps that were left out of a job since its process died in them, each with the reason.
  struct LeftOut {
    std::string gpu_archs{};
    std::string finisher{};
    std::string results{};
  };
  bool leave_out(const ChildResult &died, JobRequest *how, LeftOut *what) const;
  ChildResult compile(std::size_t job, const JobRequest &how);
  ChildResult call(std::size_t job, const JobRequest &how);
  nlohmann::json compile_here(const nlohmann::json &order);

  Requests requests_;
  std::string folder_;
  ServingChild compiler_;
  std::size_t started_ = 0;            // number of processes that compiled
  std::string caches_;                 // of the process that compiles
  std::size_t device_ = 0;             // index of that process's device
  std::optional<SharedNumber> stage_;  // JobStage of the job that is being compiled
  std::optional<Prover> prover_;
  ExpectedResults references_;
  bool died_ = false;
  OpenedPack opened_;  // only in the child
};

}  // namespace kiln::builder
