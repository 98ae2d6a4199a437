// SPDX-License-Identifier: Apache-2.0
// The store as a build uses it: which stored answers serve, and which jobs are tried again.
#pragma once

#include <optional>
#include <string>

#include "builder/store/store.hpp"

namespace kiln::builder {

struct StoreOptions {
  std::string file{};  // empty: no store
  bool fresh = false;  // takes nothing from it, and replaces what it has
  bool retry = false;  // takes no failures from it
};

// How often in all a job is tried that dies, hangs or runs out of memory.
inline constexpr std::int64_t kTries = 3;

// Whether a build takes such a job's answer from the store. Pure.
bool serves(const StoreOptions &options, JobState state, std::int64_t deaths);

// Without a file, or after a failure of it, nothing is found or kept, and everything may be
// claimed. As with Store, children are forked before.
class JobStore {
 public:
  explicit JobStore(StoreOptions options);

  // Why the file was not used, or no longer is. Success if no file was asked for.
  Status status() const;
  // Whether it is used.
  bool is_open() const { return store_ && store_->status().ok(); }

  // To be held while the job runs. Nothing if another builder is at it.
  std::optional<Claims::Claim> claim(const Action &action) const;
  // The same, after waiting for the other.
  Claims::Claim await(const Action &action) const;

  // An answer of JobRunner::run() that serves.
  std::optional<nlohmann::json> find(const Action &action);
  // The same without reading it.
  bool has(const Action &action);
  void put(const Action &action, const nlohmann::json &answer, std::int64_t milliseconds);

 private:
  StoreOptions options_;
  Status opened_;
  std::optional<Store> store_;
};

}  // namespace kiln::builder
