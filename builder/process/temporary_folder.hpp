// SPDX-License-Identifier: Apache-2.0
// Temporary folders that outlive no process. POSIX.
#pragma once

#include <string>
#include <utility>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/descriptor.hpp"

namespace kiln::builder {

// A new folder below TMPDIR or /tmp, removed with its contents on destruction. A file in the folder
// is locked while this process, or a process forked from it meanwhile, lives. If all of them are
// killed, remove_abandoned() removes the folder.
class TemporaryFolder {
 public:
  // Fails with Code::failed.
  static Result<TemporaryFolder> make();
  // Removes this user's folders below TMPDIR or /tmp whose processes are gone. Keeps folders on
  // file systems without locks.
  static void remove_abandoned();
  TemporaryFolder(TemporaryFolder &&other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();
  const std::string &path() const { return path_; }
  // Returns the path and keeps the folder, which stays locked while this process lives.
  std::string release() {
    (void)lock_.release();
    return std::exchange(path_, {});
  }

 private:
  TemporaryFolder(std::string path, packs::Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;  // empty: moved to another object, or released
  packs::Descriptor lock_;
};

}  // namespace kiln::builder
