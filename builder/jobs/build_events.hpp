// SPDX-License-Identifier: Apache-2.0
// A build as a stream of JSON objects, schema 1; docs/events.md describes it.
#pragma once

#include <functional>
#include <utility>

#include <nlohmann/json.hpp>

#include "builder/base/clock.hpp"
#include "builder/jobs/build_observer.hpp"

namespace kiln::builder {

class BuildEvents final : public BuildObserver {
 public:
  using Sink = std::function<void(const nlohmann::json &event)>;
  using Now = std::function<Clock::time_point()>;

  // Each event is given to `sink` at once. `now` is the clock; tests have another.
  explicit BuildEvents(Sink sink, Now now = Clock::now)
      : sink_(std::move(sink)), now_(std::move(now)), start_(now_()), beat_(start_) {}

  void planned(const PlanCounts &counts, std::size_t workers) override;
  void started(const ObservedJob &job, std::size_t worker) override;
  void waiting(const ObservedJob &job) override;
  void ended(const ObservedJob &job, const JobEnd &end) override;
  void looked(const std::vector<RunningJob> &running) override;

  // The last event: the members of `summary`, which is an object.
  void end(const nlohmann::json &summary);

 private:
  void tell(const char *event, nlohmann::json members);

  Sink sink_;
  Now now_;
  std::size_t all_ = 0, done_ = 0, failed_ = 0;  // jobs that are to be compiled
  Clock::time_point start_, beat_;
};

}  // namespace kiln::builder
