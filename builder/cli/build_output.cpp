// SPDX-License-Identifier: Apache-2.0
// Counts jobs, and writes lines of JSON as they come.
#include "builder/cli/build_output.hpp"

#include <cerrno>
#include <cstring>

#include "builder/cli/common.hpp"

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

Status EventOutput::open(const std::string &path) {
  path_ = path;
  if (path.empty() || is_standard_output()) return {};
  file_.reset(std::fopen(path.c_str(), "we"));  // close-on-exec
  return file_ ? Status() : Status(Code::failed, path + ": " + std::strerror(errno));
}

void EventOutput::write(const nlohmann::json &event) {
  const std::string line =
      event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (is_standard_output()) {
    print_as_is(line);
    std::fflush(stdout);  // end_output() tells what failed
    return;
  }
  if (!file_) return;
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
  if (written && std::fflush(file_.get()) == 0) return;
  complain(path_ + ": no more events: " + std::strerror(errno));
  file_.reset();
}

}  // namespace kiln::cli
