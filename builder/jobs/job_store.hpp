// SPDX-License-Identifier: Apache-2.0
// Jobs in a store, by their actions (Action in store.hpp), and which stored answers serve a build.
#pragma once

#include <optional>
#include <string>

#include "builder/store/store.hpp"

namespace kiln::builder {

// Returns the state that the store gets for an answer of JobRunner::run(): failed if a process
// died, even if the job gave a binary in the end.
JobState state_of(const nlohmann::json &answer);

struct StoreOptions {
  std::string file{};  // empty: no store
  bool fresh = false;  // ignore stored answers, and replace them
  bool retry = false;  // ignore stored failures
};

// Total number of tries for a job that dies, hangs or runs out of memory.
inline constexpr std::int64_t kTries = 3;

// Returns whether a build takes such a job's answer from the store. Pure.
bool serves(const StoreOptions &options, JobState state, std::int64_t deaths);

// The store of a build. Without a file, or after a failure of the file, nothing is found or kept,
// and everything may be claimed. As with Store, children are forked before.
class JobStore {
 public:
  explicit JobStore(StoreOptions options);

  // Returns why the file was not used, or is no longer used. Success if no file was asked for.
  Status status() const;
  // Returns whether the file is used.
  bool is_open() const { return store_ && store_->status().ok(); }

  // Claims the job; the claim is to be held while the job runs. Nothing if another builder is
  // running it.
  std::optional<Claims::Claim> claim(const Action &action) const;
  // Claims the job, after waiting for another builder if necessary.
  Claims::Claim await(const Action &action) const;

  // Returns an answer of JobRunner::run() that serves. An answer with a fault tells of the
  // workarounds that were tried, as Origin::made_with_workaround; with others it does not serve.
  std::optional<nlohmann::json> find(const Action &action, const std::string &workarounds);
  void put(const Action &action, const nlohmann::json &answer, std::int64_t milliseconds);

 private:
  StoreOptions options_;
  Status opened_;
  std::optional<Store> store_;
};

}  // namespace kiln::builder
