// SPDX-License-Identifier: Apache-2.0
// Folders of mkdtemp(3), each with a locked file.
#include "builder/process/temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/packs/files.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr const char *kPattern = "kiln-XXXXXX";
constexpr const char *kLock = "/.kiln-lock";

bool try_lock(const packs::Descriptor &file) {
  return packs::uninterrupted([&] { return flock(file.get(), LOCK_EX | LOCK_NB); }) == 0;
}

bool is_linked(const packs::Descriptor &file) {
  struct stat facts {};
  return fstat(file.get(), &facts) == 0 && facts.st_nlink > 0;
}

bool is_own_folder(const std::string &path) {
  struct stat facts {};
  return lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid();
}

// Removes the lock file last: if this process is killed first, a folder without a lock would stay.
void remove_folder(const std::string &path) {
  std::error_code ignored;
  for (const auto &entry : fs::directory_iterator(path, ignored)) {
    if ("/" + entry.path().filename().string() != kLock) fs::remove_all(entry.path(), ignored);
  }
  unlink((path + kLock).c_str());
  rmdir(path.c_str());
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  const std::string name = (fs::temp_directory_path(error) / kPattern).string();
  while (!error) {
    std::string made = name;
    if (mkdtemp(made.data()) == nullptr) {
      error = {errno, std::generic_category()};
      break;
    }
    packs::Descriptor lock(
        open((made + kLock).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!lock) error = {errno, std::generic_category()};
    // Another process's remove_abandoned() may have taken the folder before it was locked.
    if (lock && (try_lock(lock) || errno != EWOULDBLOCK) && is_linked(lock)) {
      return TemporaryFolder(made, std::move(lock));
    }
    if (!lock) rmdir(made.c_str());
  }
  return Status(Code::failed, "cannot make the folder " + name + ": " + error.message());
}

void TemporaryFolder::remove_abandoned() {
  std::error_code error;
  const fs::path below = fs::temp_directory_path(error);
  // If others can rename this user's files, a path may lead anywhere.
  struct stat facts {};
  if (error || stat(below.c_str(), &facts) != 0) return;
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (facts.st_mode & S_ISVTX) == 0) return;
  for (const auto &entry : fs::directory_iterator(below, error)) {
    const std::string path = entry.path().string();
    if (fnmatch("kiln-??????", entry.path().filename().c_str(), 0) != 0 || !is_own_folder(path)) {
      continue;
    }
    const packs::Descriptor lock(
        packs::open_at_itself(packs::kWorkingFolder, (path + kLock).c_str(), O_RDWR));
    if (lock && try_lock(lock)) remove_folder(path);
  }
}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) remove_folder(path_);
}

}  // namespace kiln::builder
