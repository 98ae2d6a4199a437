// SPDX-License-Identifier: Apache-2.0
// Opens a build's store and decides which of its answers serve.
#include "builder/jobs/job_store.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>

#include <fmt/format.h>

#include "builder/process/child_result.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::builder {

namespace {

using nlohmann::json;

// Returns whether a compiler refuses the program, rather than the machine's state being at fault:
// by OpenCL's codes, or the codes of VirtualDevice::compile().
bool is_refusal(const Status &status) {
  if (status.code == Code::requirement || status.code == Code::bad_input) return true;
  constexpr int kRefusals[] = {CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE,
                               CL_LINK_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS};
  return std::find(std::begin(kRefusals), std::end(kRefusals), status.cl_error) !=
         std::end(kRefusals);
}

}  // namespace

JobState state_of(const json &answer) {
  const Status status = status_from(answer);
  if (!status.ok()) return is_refusal(status) ? JobState::refused : JobState::failed;
  if (answer.contains("finisher_died") || answer.value("died", false)) return JobState::failed;
  const json also = answer.value("also", json::array());
  const bool died = std::any_of(also.begin(), also.end(), [](const json &one) {
    return status_from(one).code == Code::process;
  });
  return died ? JobState::failed : JobState::done;
}

bool serves(const StoreOptions &options, JobState state, std::int64_t deaths) {
  if (options.fresh) return false;
  switch (state) {
    case JobState::done: return true;
    case JobState::refused: return !options.retry;
    case JobState::failed: return !options.retry && deaths >= kTries;
  }
  return false;  // a state that a later Kiln wrote
}

JobStore::JobStore(StoreOptions options) : options_(std::move(options)) {
  if (options_.file.empty()) return;
  auto store = Store::open(options_.file);
  opened_ = store.status();
  if (store.ok()) store_.emplace(*std::move(store));
}

Status JobStore::status() const { return store_ ? store_->status() : opened_; }

std::optional<Claims::Claim> JobStore::claim(const Action &action) const {
  if (!is_open()) return Claims::Claim::none();
  return store_->claims().take(action.key);
}

Claims::Claim JobStore::await(const Action &action) const {
  if (!is_open()) return Claims::Claim::none();
  return store_->claims().await(action.key);
}

std::optional<json> JobStore::find(const Action &action, const std::string &workarounds) {
  if (!is_open() || options_.fresh) return std::nullopt;
  const auto known = store_->known(action.key);
  if (!known || !serves(options_, known->state, known->deaths)) return std::nullopt;
  auto job = store_->find(action.key);
  if (!job) return std::nullopt;
  if ((job->answer.contains("fault") || job->answer.contains("error")) &&
      job->answer.value("workarounds", "") != workarounds) {
    return std::nullopt;
  }
  if (job->state == JobState::failed && job->answer.contains("error")) {
    job->answer["error"] =
        fmt::format("{}\nfailed {} times, and is not tried again without --fresh=failed",
                    job->answer["error"].get<std::string>(), job->deaths);
  }
  return std::move(job->answer);
}

void JobStore::put(const Action &action, const json &answer, std::int64_t milliseconds) {
  if (!is_open()) return;
  store_->put(action, {state_of(answer), answer, milliseconds, std::time(nullptr)});
}

}  // namespace kiln::builder
