// SPDX-License-Identifier: Apache-2.0
// A folder that Kiln owns, and the few operations on its files. Everything is relative to a
// descriptor, so that renaming the folder or changing the working directory has no effect.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "kiln/packs/atomic_file.hpp"
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
  // Opens `path`, and makes it (0700) if only it is missing. ELOOP if it is a symbolic link,
  // EPERM if it is another user's or another user may write to it: what lies in it is given
  // to the driver.
  static int open(const char *path, Folder *out);

  explicit operator bool() const { return static_cast<bool>(fd_); }

  // Opens a regular file to read (flags O_RDONLY) or as `flags` say, never through a
  // symbolic link. ENOENT: absent; EISDIR, EINVAL: the name is not a regular file's; EPERM: as for
  // the folder; EMLINK: it has another name somewhere.
  int open_file(const std::string &name, int flags, Descriptor *out, struct stat *info) const;

  // The whole of a regular file of at most `limit` bytes; EFBIG beyond that. `*file` is left
  // open at it.
  int read_file(const std::string &name, std::uint64_t limit, packs::Bytes *out, struct stat *info,
                Descriptor *file) const;

  // Replaces `name` by the parts, one after the other, as packs::AtomicFile does.
  int write_file(const std::string &name, const packs::View *parts, std::size_t count) const;

  int remove(const std::string &name) const;
  int status(const std::string &name, struct stat *info) const;
  // Names of everything in it but "." and "..", in no order.
  int list(std::vector<std::string> *names) const;

 private:
  Descriptor fd_;
};

// A file that is used now; this is written down at most once a day, so that most starts write
// nothing. `info` is the file's.
void note_use(const Descriptor &file, const struct stat &info);

// A file by its last use.
struct UsedFile {
  std::string name;
  time_t used;
  std::uint64_t size;
};
// Removes the file that was used least recently, from the folder and from the list. Returns the
// bytes that were freed.
std::uint64_t remove_oldest(const Folder &folder, std::vector<UsedFile> *files);

// "Permission denied", for a number of errno; what Folder refuses is told in its own words.
std::string system_error_text(int error);
// Code::io_error with "PATH: " before that text.
packs::Status file_failure(std::string_view path, int error);

// Whether `name` is `prefix` and then that many numbers as hex64 writes them, joined by "-".
bool is_name(const std::string &name, const char *prefix, unsigned numbers);

// Names of Folder's temporaries begin with this; killed processes leave them behind.
inline constexpr char kTemporaryPrefix[] = "temporary-";

}  // namespace kiln::runtime
