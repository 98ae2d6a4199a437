// SPDX-License-Identifier: Apache-2.0
// What Kiln asks of the operating system about names, folders and locks; descriptor.hpp has the
// bytes of files. base/files.cpp is for POSIX, base/files_windows.cpp for Windows, where
// descriptors are those of the C library, and paths become UTF-16 in these functions alone.
//
// Names are UTF-8, and relative to `at`, the descriptor of a folder, or to the working directory:
// kWorkingFolder. Functions that return a descriptor return -1 on failure, the others false, and
// leave the reason in errno.
//
// Those that a program needs which only loads are inline for POSIX, where each is one call.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "kiln/packs/descriptor.hpp"

namespace kiln::packs {

#ifdef AT_FDCWD
inline constexpr int kWorkingFolder = AT_FDCWD;
#else
inline constexpr int kWorkingFolder = -100;
#endif

// Opens a regular file that no process started later inherits, by the flags O_RDONLY, O_WRONLY,
// O_RDWR, O_APPEND, O_CREAT and O_EXCL. Fails for a folder with EISDIR, and for anything else with
// EINVAL, without opening it: who writes to a pipe would see that it was opened, and a device may
// do something. All files that users name are opened so.
int open_at(int at, const char *name, int flags, mode_t mode = 0);
// Returns the reason for people of an error of open_at().
inline const char *open_fault(int error) {
  return error == EINVAL ? "not a regular file" : std::strerror(error);
}
// The same, but fails with ELOOP if the name is a symbolic link.
int open_at_itself(int at, const char *name, int flags, mode_t mode = 0);
// Opens a folder, to be given as `at`; not through a symbolic link, unless `follows`.
int open_folder(const char *path, bool follows);
// Makes a folder that only the owner may use.
bool make_folder(const char *path);
// Returns another descriptor of the same open file.
#ifdef _WIN32
int duplicate(int fd);
#else
inline int duplicate(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }
#endif

// Replaces the file `to`, which others may have open: at once, but for some file systems of
// Windows.
bool rename_at(int at, const char *from, const char *to);
// Removes a file. On Windows its name may be there until others have closed it.
bool remove_at(int at, const char *name);
// Tells of what has the name, not of the target of a symbolic link.
bool status_at(int at, const char *name, struct stat *info);
// If the path is a symbolic link, replaces it by the path of the link's target.
bool follow_link(std::string *path);
// Also counts the file's names, of which a removed one has none.
#ifdef _WIN32
bool status_of(int fd, struct stat *info);
#else
inline bool status_of(int fd, struct stat *info) { return fstat(fd, info) == 0; }
#endif
// Returns whether only this user, whose open file or folder has the status `info`, can write to it.
// On Windows its system and administrators can, too.
bool is_private(int fd, const struct stat &info);
// Lists the names in a folder except "." and "..", in no order.
bool list_folder(int folder, std::vector<std::string> *names);
// Sets the time of a file's last change to now.
bool touch(int fd);
bool sync_file(int fd);
// As sync_file(), for the names in a folder; true if the system cannot.
bool sync_folder(int folder);

// Locks of a whole file, which end with the process. Locks of one process's descriptors exclude
// each other, too, unless one is a duplicate of the other.
enum class Lock { shared, alone };
// Waits for other holders.
bool lock(int fd, Lock how);
// Fails with EWOULDBLOCK if others hold the lock.
bool try_lock(int fd, Lock how);
void unlock(int fd);
// Opens what to lock for a folder: the folder itself, or a file in it.
int open_lock_of(const std::string &folder);

// Returns whether a write failed for lack of space.
bool is_for_lack_of_space(int error);

}  // namespace kiln::packs
