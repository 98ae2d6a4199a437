// SPDX-License-Identifier: Apache-2.0
#include "kiln/packs/output_file.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kiln::packs {
namespace {

constexpr unsigned kAttempts = 1000;  // names that killed processes may have left behind

Status system_error(const std::string &path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return Status::error(full ? Code::no_space : Code::io_error, path + ": " + std::strerror(error));
}

std::string folder_of(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string temporary_name(const std::string &path) {
  static std::atomic<unsigned> counter{0};
  return path + "." + std::to_string(getpid()) + "-" + std::to_string(counter++) + ".tmp";
}

}  // namespace

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status OutputFile::open(const std::string &path) {
  path_ = path;
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode)) return system_error(path, EISDIR);
    return Status::error(Code::io_error, path + ": not a regular file");  // such as /dev/null
  }
  // Not mkstemp: its file is 0600, and the umask cannot be asked for without changing it.
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string name = temporary_name(path);
    fd_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ >= 0) {
      temporary_ = name;
      return {};
    }
    if (errno != EEXIST) break;
  }
  return system_error(path, errno);
}

Status OutputFile::write_at(View bytes, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < bytes.size) {
    const ssize_t n =
        pwrite(fd_, bytes.data + done, bytes.size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(path_, errno);
    done += static_cast<std::size_t>(n);
  }
  return {};
}

Status OutputFile::append(View bytes) {
  if (Status status = write_at(bytes, size_); !status.ok()) return status;
  size_ += bytes.size;
  return {};
}

Status OutputFile::align() {
  const std::uint8_t zeros[kAlignment] = {};
  return append({zeros, static_cast<std::size_t>((kAlignment - size_ % kAlignment) % kAlignment)});
}

Status OutputFile::rewrite_start(View bytes) { return write_at(bytes, 0); }

Status OutputFile::commit() {
  if (fsync(fd_) != 0) return system_error(path_, errno);
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0) return system_error(path_, errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return system_error(path_, errno);
  temporary_.clear();
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
  return {};
}

}  // namespace kiln::packs
