// SPDX-License-Identifier: Apache-2.0
// Counts jobs and shows them.
#include "builder/cli/build_progress.hpp"

#include "builder/cli/progress.hpp"

namespace kiln::cli {

void BuildProgress::planned(const builder::PlanCounts &counts, std::size_t /*workers*/) {
  all_ = counts.compile;
}

void BuildProgress::started(const builder::ObservedJob &job, std::size_t /*worker*/) {
  if (start_ == builder::Clock::time_point()) start_ = builder::Clock::now();
  running_.emplace(job.number, job.name);
  show();
}

void BuildProgress::ended(const builder::ObservedJob &job, const builder::JobEnd &end) {
  if (end.origin == builder::Origin::reused) return;
  ++done_;
  if (end.finish == nullptr) ++failed_;
  if (running_.erase(job.number) == 0) return;
  ++compiled_;
  show();
}

void BuildProgress::looked(const std::vector<builder::RunningJob> & /*running*/) { show(); }

void BuildProgress::show() {
  show_progress({done_, all_, compiled_, builder::milliseconds_since(start_) / 1000, failed_,
                 running_.size(), running_.empty() ? "" : running_.begin()->second});
}

}  // namespace kiln::cli
