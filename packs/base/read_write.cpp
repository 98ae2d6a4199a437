// SPDX-License-Identifier: Apache-2.0
// Repeats calls that a signal interrupted or that did only a part of the work.
#include "kiln/packs/descriptor.hpp"

#include <ctime>

#include <unistd.h>

namespace kiln::packs {
namespace {

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

sigset_t file_size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
  const int mine = fd_;
  fd_ = other.fd_;
  other.fd_ = mine;
  return *this;
}

Descriptor::~Descriptor() { close(); }

int Descriptor::close() {
  const int fd = release();
  // Never repeated: after EINTR the descriptor is closed, and its number may belong to another
  // file.
  return fd < 0 || ::close(fd) == 0 ? 0 : errno;
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
