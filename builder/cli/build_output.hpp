// SPDX-License-Identifier: Apache-2.0
// What a build tells while it runs: people how far it is, programs each event.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
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

// Events of a command, a line of JSON each.
class EventOutput {
 public:
  // "-" is standard output, and "" nowhere; a file is emptied. Fails with Code::failed.
  builder::Status open(const std::string &path);

  // Whoever reads has the line at once. What cannot be written is told once, on standard error;
  // a command goes on all the same.
  void write(const nlohmann::json &event);

 private:
  bool is_standard_output() const { return path_ == "-"; }

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file_{nullptr, std::fclose};
};

}  // namespace kiln::cli
