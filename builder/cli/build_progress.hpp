// SPDX-License-Identifier: Apache-2.0
// How far a build is, for people.
#pragma once

#include <map>

#include "builder/base/clock.hpp"
#include "builder/jobs/build_observer.hpp"

namespace kiln::cli {

class BuildProgress final : public builder::BuildObserver {
 public:
  void planned(const builder::PlanCounts &counts, std::size_t workers) override;
  void started(const builder::ObservedJob &job, std::size_t worker) override;
  void ended(const builder::ObservedJob &job, const builder::JobEnd &end) override;
  void looked(const std::vector<builder::RunningJob> &running) override;

 private:
  void show();

  std::size_t all_ = 0, done_ = 0, compiled_ = 0, failed_ = 0;
  std::map<std::size_t, std::string> running_;  // names by number
  builder::Clock::time_point start_{};          // of the first that ran
};

}  // namespace kiln::cli
