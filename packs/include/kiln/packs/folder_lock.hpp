// SPDX-License-Identifier: Apache-2.0
// Keeps writers of one folder apart while each reads a file again and replaces it. POSIX.
#pragma once

#include <functional>
#include <string>

#include "kiln/packs/descriptor.hpp"

namespace kiln::packs {

// Holds the lock from its construction, which waits for other holders, to its destruction. Where
// the folder does not exist or its file system has no locks, it holds nothing.
class FolderLock {
 public:
  using Waiting = std::function<void(const std::string &folder)>;

  // The folder that holds the file `path`. Calls `waiting` first if another holds the lock.
  explicit FolderLock(const std::string &path, const Waiting &waiting = nullptr);

 private:
  Descriptor folder_;
};

}  // namespace kiln::packs
