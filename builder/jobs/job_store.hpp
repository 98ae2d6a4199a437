// SPDX-License-Identifier: Apache-2.0
// Jobs in a store: what decides a job's answer, and looking it up.
#pragma once

#include <optional>
#include <string>

#include "builder/finish/job_request.hpp"
#include "builder/store/store.hpp"

namespace kiln::builder {

// Raised whenever the builder makes other answers of the same inputs: another finisher, another
// proof, other members of JobRunner::run()'s answer.
inline constexpr int kRecipe = 3;

// Everything that is known of device and driver, as canonical JSON: every identity string but the
// device's UUID, which names one board, the binary key and the driver's compiler library.
std::string platform_of(const DeviceInfo &device);

// Programs and variants are told apart by their hashes: their names are not in the key, nor is the
// time that a job may take. `platform` is platform_of(request.device).
Action action_of(const JobRequest &request, const std::string &platform);

// What the store is told of an answer of JobRunner::run(): failed where a process died in it, even
// if a binary came of it in the end.
JobState state_of(const nlohmann::json &answer);

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
