// SPDX-License-Identifier: Apache-2.0
// A folder that Kiln owns, and the few operations on its files. Each opens the folder by its name,
// since the application may close any descriptor, and fails with ENOENT if that is another folder
// by now.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/packs/atomic_file.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/status.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::runtime {

using packs::Descriptor;
using packs::hex64;
using packs::unique_number;
using packs::write_all;

// Errors are the operating system's numbers (errno); 0 is success.
class Folder {
 public:
  // Opens `path`, and makes it, for this user alone, if its parent exists. Fails with ELOOP if it
  // is a symbolic link, and with EPERM if another user owns it or may write to it: the files in it
  // are given to the driver.
  static int open(const char *path, Folder *out);

  explicit operator bool() const { return !path_.empty(); }

  // Opens a regular file with `flags` (O_RDONLY to read), never through a symbolic link. Fails with
  // ENOENT if the file is absent, EISDIR or EINVAL if it is not a regular file, EPERM as for the
  // folder, and EMLINK if the file has another name somewhere.
  int open_file(const std::string &name, int flags, Descriptor *out, struct stat *info) const;

  // Reads the whole of a regular file of at most `limit` bytes; fails with EFBIG if it is larger.
  // `*file` stays open at the file.
  int read_file(const std::string &name, std::uint64_t limit, packs::Bytes *out, struct stat *info,
                Descriptor *file) const;

  // Replaces the file `name` by the parts, one after the other, as packs::AtomicFile does.
  int write_file(const std::string &name, const packs::View *parts, std::size_t count) const;

  int remove(const std::string &name) const;
  int status(const std::string &name, struct stat *info) const;
  // Lists the names in the folder except "." and "..", in no order.
  int list(std::vector<std::string> *names) const;

 private:
  // Opens the folder. Returns 0 or errno.
  int open_again(Descriptor *out) const;

  std::string path_;  // absolute; empty: not open
  std::uint64_t number_ = 0;
};

// Records that a file is used now, at most once a day, so that most starts write nothing. `info` is
// the file's.
void note_use(const Descriptor &file, const struct stat &info);

// A file and its last use.
struct UsedFile {
  std::string name;
  time_t used;
  std::uint64_t size;
};
// Sorts the files, the least recently used one last; of two that were used at once, the first by
// name.
void sort_by_use(std::vector<UsedFile> *files);
// Removes the last file of the sorted list from the folder and from the list. Returns the number of
// bytes freed.
std::uint64_t remove_oldest(const Folder &folder, std::vector<UsedFile> *files);

// Returns the text for a number of errno, such as "Permission denied"; refusals by Folder have
// texts of their own.
std::string system_error_text(int error);
// Returns Code::io_error with "PATH: " and the text for `error`.
packs::Status file_failure(std::string_view path, int error);

// Returns whether `name` is `prefix` followed by that many hex64 numbers, joined by "-".
bool is_name(const std::string &name, const char *prefix, unsigned numbers);

// Names of Folder's temporaries begin with this; killed processes leave them behind.
inline constexpr char kTemporaryPrefix[] = "temporary-";

}  // namespace kiln::runtime
