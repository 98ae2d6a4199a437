// SPDX-License-Identifier: Apache-2.0
// A lock by flock on the folder itself, so that no file is left behind.
#include "kiln/packs/folder_lock.hpp"

#include <cerrno>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>

namespace kiln::packs {

// Whether there is nothing to wait for.
bool FolderLock::try_lock(const std::string &path, std::string *folder) {
  std::error_code error;
  *folder = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error)
                .parent_path();
  folder_ = Descriptor(open(folder->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return !folder_ || flock(folder_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

FolderLock::FolderLock(const std::string &path, const Waiting &waiting) {
  std::string folder;
  if (try_lock(path, &folder)) return;
  if (waiting) waiting(folder);
  (void)uninterrupted([&] { return flock(folder_.get(), LOCK_EX); });
}

FolderLock::FolderLock(const std::string &path, std::chrono::milliseconds patience) {
  std::string folder;
  if (try_lock(path, &folder)) return;
  const auto end = std::chrono::steady_clock::now() + patience;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (flock(folder_.get(), LOCK_EX | LOCK_NB) == 0) return;
  } while (std::chrono::steady_clock::now() < end);
  is_refused_ = true;
}

// Closing alone would leave it to forked processes.
FolderLock::~FolderLock() {
  if (folder_ && !is_refused_) (void)flock(folder_.get(), LOCK_UN);
}

}  // namespace kiln::packs
