// SPDX-License-Identifier: Apache-2.0
// For POSIX: repeats calls that a signal interrupted or that did only a part of the work.
#include <csignal>
#include <ctime>

#include <sys/stat.h>
#include <unistd.h>

#include "kiln/packs/descriptor.hpp"

namespace kiln::packs {
namespace {

// While it lives, this thread's writes beyond RLIMIT_FSIZE fail with EFBIG, as on a full disk, and
// SIGXFSZ does not end a process that itself writes nothing so large. For Kiln's own writes.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal();
  ~NoFileSizeSignal();
  NoFileSizeSignal(const NoFileSizeSignal &) = delete;
  NoFileSizeSignal &operator=(const NoFileSizeSignal &) = delete;

 private:
  sigset_t before_;   // the thread's blocked signals
  bool was_pending_;  // left for the application to take
};

sigset_t file_size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

NoFileSizeSignal::NoFileSizeSignal() {
  const sigset_t mine = file_size_signal();
  sigset_t pending;
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &mine, &before_);
}

// The signal goes to the thread that wrote, so it is pending here or nowhere.
NoFileSizeSignal::~NoFileSizeSignal() {
  const int error = errno;
  const sigset_t mine = file_size_signal();
  const timespec at_once{};
  if (!was_pending_) (void)uninterrupted([&] { return sigtimedwait(&mine, nullptr, &at_once); });
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

// Passes the remaining bytes to `write_some` until nothing is left.
template <typename WriteSome>
int write_rests(View bytes, WriteSome write_some) {
  const NoFileSizeSignal quiet;
  std::size_t done = 0;
  while (done < bytes.size) {
    const ssize_t n = uninterrupted([&] { return write_some(bytes.data + done, done); });
    if (n <= 0) return n == 0 ? EIO : errno;
    done += static_cast<std::size_t>(n);
  }
  return 0;
}

}  // namespace

std::uint64_t file_number(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 ? file_number(info.st_dev, info.st_ino) : 0;
}

bool write_line(int fd, const void *bytes, std::size_t size) {
  const NoFileSizeSignal quiet;
  const ssize_t n = uninterrupted([&] { return write(fd, bytes, size); });
  if (n >= 0 && static_cast<std::size_t>(n) != size) errno = ENOSPC;
  return n == static_cast<ssize_t>(size);
}

int write_all(int fd, View bytes, std::uint64_t offset) {
  return write_rests(bytes, [&](const std::uint8_t *rest, std::size_t done) {
    return pwrite(fd, rest, bytes.size - done, static_cast<off_t>(offset + done));
  });
}

int write_all(int fd, View bytes) {
  return write_rests(bytes, [&](const std::uint8_t *rest, std::size_t done) {
    return write(fd, rest, bytes.size - done);
  });
}

void overwrite(int fd, View bytes, std::uint64_t offset) {
  const NotCancelled here;
  (void)!pwrite(fd, bytes.data, bytes.size, static_cast<off_t>(offset));
}

int read_all(int fd, std::uint64_t offset, std::uint8_t *to, std::size_t *size) {
  const std::size_t wanted = *size;
  *size = 0;
  while (*size < wanted) {
    const ssize_t n = uninterrupted(
        [&] { return pread(fd, to + *size, wanted - *size, static_cast<off_t>(offset + *size)); });
    if (n < 0) return errno;
    if (n == 0) break;
    *size += static_cast<std::size_t>(n);
  }
  return 0;
}

}  // namespace kiln::packs
