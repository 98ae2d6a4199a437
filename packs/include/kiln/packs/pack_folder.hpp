// SPDX-License-Identifier: Apache-2.0
// Folders of packs: a list of the packs, the lock for writers that read a file again and replace
// it, and the names of a spool's other files.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/status.hpp"

namespace kiln::packs {

// Lists the folder's *.kiln files, sorted by name. Fails with Code::io_error, with the folder's
// name, if it cannot be read.
Status packs_in(const std::string &folder, std::vector<std::string> *out);

// Lists the packs that a user names with `path`: a folder's, as packs_in(), or else `path` itself.
Status packs_at(const std::string &path, std::vector<std::string> *out);

// A spool's file that tells which start of an application built which program (docs/use/layer.md).
inline constexpr char kStartsFile[] = "starts";

// Locks a folder from construction, which waits for other holders, to destruction, which unlocks it
// for forked processes, too. If the folder does not exist, or its file system has no locks, nothing
// is locked.
class FolderLock {
 public:
  using Waiting = std::function<void(const std::string &folder)>;

  // Locks the folder that holds the file `path`. Calls `waiting` first if another holds the lock.
  explicit FolderLock(const std::string &path, const Waiting &waiting = nullptr);
  // Waits no longer than `patience`.
  FolderLock(const std::string &path, std::chrono::milliseconds patience);
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;
  ~FolderLock();

  // Returns whether another still holds the lock.
  bool is_refused() const { return is_refused_; }

 private:
  bool try_lock(const std::string &path, std::string *folder);

  bool is_refused_ = false;
  Descriptor folder_;
};

}  // namespace kiln::packs
