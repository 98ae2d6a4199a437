// SPDX-License-Identifier: Apache-2.0
// The programs of a loader, each loaded once whichever threads ask for it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/load/ladder.hpp"
#include "runtime/load/tuning.hpp"

namespace kiln::runtime {

// How a load ended. The report is always there, the program on success.
struct LoadResult {
  Status error;
  std::shared_ptr<LoadedProgram> program;
  std::shared_ptr<const Report> report;
  Choice choice;  // of this call; others may have come to the same variant by another way
};

// Any thread may call anything.
class Programs {
 public:
  explicit Programs(std::shared_ptr<const Loader> loader) : loader_(std::move(loader)) {}

  const std::shared_ptr<const Loader> &loader() const { return loader_; }

  // Loads, or waits for the thread that is loading the same, or gives what was loaded before.
  // A load that failed is tried again by the next call. With an empty `variant` the next best is
  // loaded where one fails on every rung; if all do, the error and the report are of the best.
  // With kDryRun among the flags the program is null.
  LoadResult load(const std::string &program, const std::string &variant, unsigned flags);

  // Called with what this thread loaded; true goes on.
  class Progress {
   public:
    virtual bool loaded(const std::string &program, const LoadResult &result, std::size_t done) = 0;

   protected:
    ~Progress() = default;
  };

  // Loads the variant of each that load() takes by itself, shares the work with other threads that
  // do the same, and returns when all of them are done, or when `progress` says so.
  void prefetch(const std::vector<std::string> &programs, unsigned flags, Progress *progress);

  // Persistence::finish() for all that are loaded.
  void finish();

  // Whether the driver compiled any of them; absent while one is being loaded.
  std::optional<bool> has_compiled();

 private:
  struct Slot {
    packs::VariantRef variant;
    unsigned flags;
    std::atomic<unsigned> loads{0};  // how often a load ended
    std::mutex mutex;                // held while loading; guards `last`
    LoadResult last;                 // without a choice
  };

  // The slot of what is asked for, `result->choice`; null if the pack has no such variant, and
  // then `*result` has the error.
  Slot *find_slot(const std::string &program, const std::string &variant, unsigned flags,
                  const std::vector<packs::VariantRef> &failed, LoadResult *result);
  const LoadResult &load_slot(const std::string &program, Slot *slot);
  // The next best after the variant that `first` could not load.
  LoadResult load_next(const std::string &program, unsigned flags, LoadResult first);
  LoadResult load_one(const std::string &program, Slot *slot, Choice choice);

  std::shared_ptr<const Loader> loader_;
  std::mutex mutex_;  // guards `slots_`, not what they point to
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace kiln::runtime
