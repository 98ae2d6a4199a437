// SPDX-License-Identifier: Apache-2.0
#include "kiln/packs/folder_lock.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>

namespace kiln::packs {

FolderLock::FolderLock(const std::string &path, const Waiting &waiting) {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error)
          .parent_path();
  folder_ = Descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) return;
  if (flock(folder_.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK && waiting) waiting(folder.string());
  (void)uninterrupted([&] { return flock(folder_.get(), LOCK_EX); });
}

}  // namespace kiln::packs
