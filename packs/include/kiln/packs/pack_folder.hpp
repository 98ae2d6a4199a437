// SPDX-License-Identifier: Apache-2.0
// Folders of packs: the packs in one, and the lock that keeps its writers apart while each reads a
// file again and replaces it. POSIX.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/status.hpp"

namespace kiln::packs {

// The paths of the folder's *.kiln files, in the order of their names. Code::io_error, with the
// folder's name, if it cannot be read.
Status packs_in(const std::string &folder, std::vector<std::string> *out);

// Of a spool, beside its packs: which start of an application built which (docs/layer.md).
inline constexpr char kStartsFile[] = "starts";
// And what was linked of several programs.
inline constexpr char kLinksFile[] = "links";

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
