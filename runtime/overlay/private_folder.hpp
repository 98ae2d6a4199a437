// SPDX-License-Identifier: Apache-2.0
// A folder that Kiln owns, and the few operations on its files. Everything is relative to a
// descriptor, so that renaming the folder or changing the working directory has no effect.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "kiln/packs/pack.hpp"

namespace kiln::runtime {

// A file descriptor that closes itself. Move only.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor &&other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor &operator=(Descriptor &&other) noexcept;
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor();

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Errors are the operating system's numbers (errno); 0 is success.
class Folder {
 public:
  // Opens `path`, and makes it (0700) if only it is missing. ELOOP if it is a symbolic link,
  // EPERM if it is another user's or any user may write to it: what lies in it is given
  // to the driver.
  static int open(const char *path, Folder *out);

  explicit operator bool() const { return static_cast<bool>(fd_); }

  // Opens a regular file to read (flags O_RDONLY) or as `flags` say, never through a
  // symbolic link. ENOENT: absent; EISDIR, EINVAL: the name is not a regular file's.
  int open_file(const std::string &name, int flags, Descriptor *out, struct stat *info) const;

  // The whole of a regular file of at most `limit` bytes; EFBIG beyond that. `*file` is left
  // open at it.
  int read_file(const std::string &name, std::uint64_t limit, packs::Bytes *out, struct stat *info,
                Descriptor *file) const;

  // Replaces `name` by the parts, one after the other: a temporary with a unique name made
  // with O_EXCL, written whole, synced, renamed; then the folder is synced. On failure the
  // temporary is removed and the former file `name` is untouched.
  int write_file(const std::string &name, const packs::View *parts, std::size_t count) const;

  int remove(const std::string &name) const;
  int status(const std::string &name, struct stat *info) const;
  // Names of everything in it but "." and "..", in no order.
  int list(std::vector<std::string> *names) const;

 private:
  Descriptor fd_;
};

// Writes all of `view` at `offset`.
int write_all(int fd, packs::View view, std::uint64_t offset);

// 16 hexadecimal digits.
std::string hex64(std::uint64_t value);

// Whether `name` is `prefix` and then that many numbers as hex64 writes them, joined by "-".
bool is_name(const std::string &name, const char *prefix, unsigned numbers);

// A number that no other process and no earlier call has; for names of files.
std::uint64_t unique_number();

// Names of Folder's temporaries begin with this; killed processes leave them behind.
inline constexpr char kTemporaryPrefix[] = "temporary-";

}  // namespace kiln::runtime
