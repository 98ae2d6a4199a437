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

// The result of a load. The report is always there, the program only on success.
struct LoadResult {
  Status error;
  std::shared_ptr<LoadedProgram> program;
  std::shared_ptr<const Report> report;
  Choice choice;  // of this call; other calls may have chosen the same variant in another way
};

// The loaded programs. Any thread may call any function.
class Programs {
 public:
  explicit Programs(std::shared_ptr<const Loader> loader) : loader_(std::move(loader)) {}

  const std::shared_ptr<const Loader> &loader() const { return loader_; }

  // Loads a variant, or waits for the thread that is loading it, or returns the earlier result. The
  // next call tries a failed load again. With an empty `variant`, if the best variant fails on
  // every rung, the next best is loaded; if all fail, the error and the report are about the best.
  // With kDryRun among the flags the program is null.
  LoadResult load(const std::string &program, const std::string &variant, unsigned flags);

  // Called after each program that this thread loaded; returns whether to go on.
  class Progress {
   public:
    virtual bool loaded(const std::string &program, const LoadResult &result, std::size_t done) = 0;

   protected:
    ~Progress() = default;
  };

  // Loads each program in the variant that load() chooses by itself, and shares the work with other
  // threads that do the same. Returns when all programs are done, or when `progress` stops it.
  void prefetch(const std::vector<std::string> &programs, unsigned flags, Progress *progress);

  // Calls Persistence::store() for all loaded programs.
  void finish();

  // Returns whether the driver compiled any program; absent while one is being loaded.
  std::optional<bool> has_compiled();

 private:
  struct Slot {
    packs::VariantRef variant;
    unsigned flags;
    std::atomic<unsigned> loads{0};  // number of loads that ended
    std::mutex mutex;                // held while loading; guards `last`
    LoadResult last;                 // without a choice
  };

  // Chooses the variant, `result->choice`, and returns its slot. Returns null if there is no such
  // variant, and then `*result` has the error.
  Slot *find_slot(const std::string &program, const std::string &variant, unsigned flags,
                  const std::vector<packs::VariantRef> &failed, LoadResult *result);
  const LoadResult &load_slot(const std::string &program, Slot *slot);
  // Loads the next best variant after the one that failed in `first`.
  LoadResult load_next(const std::string &program, unsigned flags, LoadResult first);
  LoadResult load_one(const std::string &program, Slot *slot, Choice choice);

  std::shared_ptr<const Loader> loader_;
  std::mutex mutex_;  // guards `slots_`, not the slots themselves
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace kiln::runtime
