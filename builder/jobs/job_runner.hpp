// SPDX-License-Identifier: Apache-2.0
// Does jobs of a build one after another: in a process that compiles and finishes, and in others
// that prove the binaries.
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

// A number that a process shares with those that it forks, which may outlive it. Stays 0 where the
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

// As ServingChild asks, the caller is single-threaded and has loaded no driver.
class JobRunner {
 public:
  // The request of the job with that number; what it refers to outlives the runner.
  using Requests = std::function<JobRequest(std::size_t job)>;

  // `folder`, which exists, is for the drivers' caches; what is left there is the caller's to
  // remove.
  JobRunner(Requests requests, std::string folder);

  // The job's answer: a failed status (status_json.hpp), or what job_result() takes. A job that
  // fails in a process that did others before is done again in a fresh one, unless the fault is the
  // program's or it took all of its time.
  nlohmann::json run(std::size_t job);

  // Whether every process of the runner is well. If not, a runner that is forked anew starts its
  // processes from memory as this one did.
  bool is_well() const { return !died_; }

 private:
  // What was left out of a job since its process died of it.
  struct LeftOut {
    std::string also{};
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
  std::size_t started_ = 0;            // processes that compile
  std::string caches_;                 // of the one that does
  std::size_t device_ = 0;             // the index of its device
  std::optional<SharedNumber> stage_;  // of the job that is being compiled, a JobStage
  std::optional<Prover> prover_;
  ExpectedResults references_;
  bool died_ = false;
  OpenedPack opened_;  // in the child alone
};

}  // namespace kiln::builder
