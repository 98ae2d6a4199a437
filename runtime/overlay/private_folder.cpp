// SPDX-License-Identifier: Apache-2.0
#include "runtime/overlay/private_folder.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "kiln/packs/hash.hpp"
#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime {
namespace {

constexpr int kNewFile = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;

int write_parts(int fd, const packs::View *parts, std::size_t count) {
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (int error = write_all(fd, parts[i], offset); error != 0) return error;
    offset += parts[i].size;
  }
  return fsync(fd) == 0 ? 0 : errno;
}

}  // namespace

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
  const int mine = fd_;
  fd_ = other.fd_;
  other.fd_ = mine;
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

int Folder::open(const char *path, Folder *out) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor fd(::open(path, kFlags));
  if (!fd && errno == ENOENT) {
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return errno;
    fd = Descriptor(::open(path, kFlags));
  }
  if (!fd) {
    // Linux says ENOTDIR for a link when both flags are given.
    struct stat link {};
    const int error = errno;
    return lstat(path, &link) == 0 && S_ISLNK(link.st_mode) ? ELOOP : error;
  }
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return errno;
  if ((info.st_mode & S_IWOTH) != 0 || info.st_uid != geteuid()) return EPERM;
  out->fd_ = std::move(fd);
  return 0;
}

int Folder::open_file(const std::string &name, int flags, Descriptor *out,
                      struct stat *info) const {
  // Not blocking: the name may be a pipe's.
  Descriptor fd(openat(fd_.get(), name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!fd || fstat(fd.get(), info) != 0) return errno;
  if (S_ISDIR(info->st_mode)) return EISDIR;
  if (!S_ISREG(info->st_mode)) return EINVAL;
  *out = std::move(fd);
  return 0;
}

int Folder::read_file(const std::string &name, std::uint64_t limit, packs::Bytes *out,
                      struct stat *info, Descriptor *file) const {
  if (int error = open_file(name, O_RDONLY, file, info); error != 0) return error;
  if (static_cast<std::uint64_t>(info->st_size) > limit) return EFBIG;
  out->resize(static_cast<std::size_t>(info->st_size));
  std::size_t done = 0;
  while (done < out->size()) {
    const ssize_t got = read(file->get(), out->data() + done, out->size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;  // shortened meanwhile: the reader's hash check fails
    done += static_cast<std::size_t>(got);
  }
  out->resize(done);
  return 0;
}

int Folder::write_file(const std::string &name, const packs::View *parts, std::size_t count) const {
  const std::string temporary = kTemporaryPrefix + hex64(unique_number());
  Descriptor fd(openat(fd_.get(), temporary.c_str(), kNewFile, 0600));
  if (!fd) return errno;
  int error = write_parts(fd.get(), parts, count);
  if (error == 0 && renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    unlinkat(fd_.get(), temporary.c_str(), 0);
    return error;
  }
  return fsync(fd_.get()) == 0 ? 0 : errno;
}

int Folder::remove(const std::string &name) const {
  return unlinkat(fd_.get(), name.c_str(), 0) == 0 ? 0 : errno;
}

int Folder::status(const std::string &name, struct stat *info) const {
  return fstatat(fd_.get(), name.c_str(), info, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

int Folder::list(std::vector<std::string> *names) const {
  // An own description: the position of a shared one would be shared too.
  const int fd = openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  DIR *folder = fdopendir(fd);
  if (folder == nullptr) {
    const int error = errno;
    close(fd);
    return error;
  }
  errno = 0;
  while (const dirent *entry = readdir(folder)) {
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
    names->push_back(entry->d_name);
  }
  const int error = errno;
  closedir(folder);
  return error;
}

int write_all(int fd, packs::View view, std::uint64_t offset) {
  while (view.size != 0) {
    const ssize_t written = pwrite(fd, view.data, view.size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written == 0 ? EIO : errno;
    view.data += written;
    view.size -= static_cast<std::size_t>(written);
    offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

std::string hex64(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

bool is_name(const std::string &name, const char *prefix, unsigned numbers) {
  const std::size_t start = std::strlen(prefix);
  if (name.size() != start + 17 * numbers - 1 || !starts_with(name, prefix)) return false;
  for (std::size_t i = start; i < name.size(); ++i) {
    const char c = name[i];
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if ((i - start) % 17 == 16 ? c != '-' : !digit) return false;
  }
  return true;
}

std::uint64_t unique_number() {
  static std::atomic<unsigned> counter{0};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::uint64_t facts[4] = {static_cast<std::uint64_t>(now.tv_sec),
                                  static_cast<std::uint64_t>(now.tv_nsec),
                                  static_cast<std::uint64_t>(getpid()), ++counter};
  return packs::xxh3(facts, sizeof(facts));
}

}  // namespace kiln::runtime
