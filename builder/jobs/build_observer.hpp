// SPDX-License-Identifier: Apache-2.0
// Observers of a running build: an interface, and the stream of JSON objects, schema 1, that
// docs/operate/events.md describes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/base/this_process.hpp"
#include "builder/jobs/plan.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct JobLabel {
  std::size_t number;  // place in the plan
  const std::string &name;
  const std::string &program;
  const std::string &variant;
  std::string device;
};

// Origin of a job's result: from a driver or a compiler now, from the store, or from the pack that
// stood at the output's place, with a new proof or as it was.
enum class How { compiled, stored, proven, reused };

struct JobEnd {
  How how = How::compiled;
  std::chrono::milliseconds took{0};     // for a job that was compiled or proven
  const Status &status;                  // failed: there is no binary
  const packs::Binary *binary;           // or else the intermediate; null if the job failed
  std::uint64_t build_microseconds = 0;  // as in JobResult
  std::uint64_t load_microseconds = 0;
  bool left_out = false;                         // rather than failed
  const packs::Bytes *device_entries = nullptr;  // as in Job; null for a reused job
};

struct RunningJob {
  std::size_t worker;  // number of the process that runs the job, from 0
  JobLabel job;
  std::chrono::milliseconds since;
};

// Interface for observers. build_on_devices() calls it in its caller's process and thread.
// References are valid only during the call.
class BuildObserver {
 public:
  virtual ~BuildObserver() = default;

  // Called first, with the number of jobs that may run in parallel.
  virtual void planned(const PlanCounts &, std::size_t /*workers*/) {}
  // Called when the job starts to run.
  virtual void started(const JobLabel &, std::size_t /*worker*/) {}
  // Called before waiting for the job's result from another builder with the same store.
  virtual void waiting(const JobLabel &) {}
  // Called once for each job that is to be compiled or reused, with or without a start before.
  virtual void ended(const JobLabel &, const JobEnd &) {}
  // Called about once a second while jobs run, with the jobs in the order of their numbers.
  virtual void still_running(const std::vector<RunningJob> &) {}
};

// Passes each call on to several observers, in their order.
class Observers final : public BuildObserver {
 public:
  // The observers must outlive this object.
  explicit Observers(std::vector<BuildObserver *> all) : all_(std::move(all)) {}

  void planned(const PlanCounts &counts, std::size_t workers) override {
    for (BuildObserver *one : all_) one->planned(counts, workers);
  }
  void started(const JobLabel &job, std::size_t worker) override {
    for (BuildObserver *one : all_) one->started(job, worker);
  }
  void waiting(const JobLabel &job) override {
    for (BuildObserver *one : all_) one->waiting(job);
  }
  void ended(const JobLabel &job, const JobEnd &end) override {
    for (BuildObserver *one : all_) one->ended(job, end);
  }
  void still_running(const std::vector<RunningJob> &running) override {
    for (BuildObserver *one : all_) one->still_running(running);
  }

 private:
  std::vector<BuildObserver *> all_;
};

class BuildEvents final : public BuildObserver {
 public:
  using Sink = std::function<void(const nlohmann::json &event)>;
  using Now = std::function<Clock::time_point()>;

  // Gives each event to `sink` at once. `now` is the clock; tests have another.
  explicit BuildEvents(Sink sink, Now now = Clock::now)
      : sink_(std::move(sink)), now_(std::move(now)), start_(now_()), beat_(start_) {}

  void planned(const PlanCounts &counts, std::size_t workers) override;
  void started(const JobLabel &job, std::size_t worker) override;
  void waiting(const JobLabel &job) override;
  void ended(const JobLabel &job, const JobEnd &end) override;
  void still_running(const std::vector<RunningJob> &running) override;

  // Gives the last event, with the members of `summary`, which is an object.
  void end(const nlohmann::json &summary);

 private:
  void write_event(const char *event, nlohmann::json members);

  Sink sink_;
  Now now_;
  std::size_t all_ = 0, done_ = 0, failed_ = 0;  // jobs that are to be compiled
  Clock::time_point start_, beat_;
};

}  // namespace kiln::builder
