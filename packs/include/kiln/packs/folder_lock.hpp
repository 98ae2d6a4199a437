// SPDX-License-Identifier: Apache-2.0
// Keeps writers of one folder apart while each reads a file again and replaces it. POSIX.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "kiln/packs/descriptor.hpp"

namespace kiln::packs {

// Holds the lock from its construction, which waits for other holders, to its destruction, then
// also for processes that were forked meanwhile. Where the folder does not exist or its file system
// has no locks, it holds nothing.
class FolderLock {
 public:
  using Waiting = std::function<void(const std::string &folder)>;

  // The folder that holds the file `path`. Calls `waiting` first if another holds the lock.
  explicit FolderLock(const std::string &path, const Waiting &waiting = nullptr);
  // Waits no longer than that.
  FolderLock(const std::string &path, std::chrono::milliseconds patience);
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;
  ~FolderLock();

  // Whether another holds it still.
  bool is_refused() const { return is_refused_; }

 private:
  bool try_lock(const std::string &path, std::string *folder);

  bool is_refused_ = false;
  Descriptor folder_;
};

}  // namespace kiln::packs
