// SPDX-License-Identifier: Apache-2.0
// For POSIX: one call each.
#include "kiln/packs/files.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <dirent.h>
#include <sys/file.h>
#include <unistd.h>

namespace kiln::packs {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// Of other things, sets errno. A link is here only if it is not followed, and cannot be opened
// then.
bool is_file_or_link(const struct stat &info) {
  if (S_ISREG(info.st_mode) || S_ISLNK(info.st_mode)) return true;
  errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
  return false;
}

int how_of(Lock how) { return how == Lock::alone ? LOCK_EX : LOCK_SH; }

}  // namespace

int open_at(int at, const char *name, int flags, mode_t mode) {
  const NotCancelled here;
  struct stat info {};
  const int follows = (flags & O_NOFOLLOW) == 0 ? 0 : AT_SYMLINK_NOFOLLOW;
  if (fstatat(at, name, &info, follows) == 0 && !is_file_or_link(info)) return -1;
  // Another file may have the name by now.
  Descriptor file(openat(at, name, flags | O_CLOEXEC | O_NONBLOCK, mode));
  if (!file || fstat(file.get(), &info) != 0 || !is_file_or_link(info)) return -1;
  return file.release();
}

int open_at_itself(int at, const char *name, int flags, mode_t mode) {
  return open_at(at, name, flags | O_NOFOLLOW, mode);
}

int open_folder(const char *path, bool follows) {
  const NotCancelled here;
  const int fd = ::open(path, follows ? kFolder : kFolder | O_NOFOLLOW);
  if (fd >= 0 || follows) return fd;
  // Linux says ENOTDIR for a link when both flags are given.
  struct stat link {};
  const int error = errno;
  errno = lstat(path, &link) == 0 && S_ISLNK(link.st_mode) ? ELOOP : error;
  return -1;
}

bool make_folder(const char *path) { return mkdir(path, 0700) == 0; }

bool rename_at(int at, const char *from, const char *to) { return renameat(at, from, at, to) == 0; }

bool remove_at(int at, const char *name) { return unlinkat(at, name, 0) == 0; }

bool status_at(int at, const char *name, struct stat *info) {
  return fstatat(at, name, info, AT_SYMLINK_NOFOLLOW) == 0;
}

bool follow_link(std::string *path) {
  struct stat info {};
  if (lstat(path->c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return true;
  char *const target = realpath(path->c_str(), nullptr);
  if (target == nullptr) return false;
  *path = target;
  std::free(target);
  return true;
}

// A group with the user's own number has no other members, by convention.
bool is_private(int, const struct stat &info) {
  const bool own_group = info.st_gid == static_cast<gid_t>(info.st_uid);
  return info.st_uid == geteuid() && (info.st_mode & S_IWOTH) == 0 &&
         ((info.st_mode & S_IWGRP) == 0 || own_group);
}

bool list_folder(int folder, std::vector<std::string> *names) {
  const NotCancelled here;
  // Opens a file description of its own: a shared one would share its position.
  const int fd = openat(folder, ".", kFolder);
  if (fd < 0) return false;
  DIR *const entries = fdopendir(fd);
  if (entries == nullptr) {
    const int error = errno;
    close(fd);
    errno = error;
    return false;
  }
  errno = 0;
  while (const dirent *entry = readdir(entries)) {
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
    names->push_back(entry->d_name);
  }
  const int error = errno;
  closedir(entries);
  errno = error;
  return error == 0;
}

bool touch(int fd) { return futimens(fd, nullptr) == 0; }

bool sync_file(int fd) {
  const NotCancelled here;
  return fsync(fd) == 0;
}

// EINVAL: the file system cannot sync folders.
bool sync_folder(int folder) { return sync_file(folder) || errno == EINVAL; }

bool lock(int fd, Lock how) {
  return uninterrupted([&] { return flock(fd, how_of(how)); }) == 0;
}

bool try_lock(int fd, Lock how) { return flock(fd, how_of(how) | LOCK_NB) == 0; }

void unlock(int fd) { (void)flock(fd, LOCK_UN); }

int open_lock_of(const std::string &folder) { return open_folder(folder.c_str(), true); }

bool is_for_lack_of_space(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

}  // namespace kiln::packs
