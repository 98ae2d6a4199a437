// SPDX-License-Identifier: Apache-2.0
// File descriptors that close themselves, and reads and writes that no signal interrupts and in
// which no thread is cancelled. Errors are errno numbers; 0 is success.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#if !defined(_WIN32) && !defined(__ANDROID__)
#define KILN_HAS_CANCELLATION
#include <pthread.h>
#endif

#include "kiln/packs/bytes.hpp"

namespace kiln::packs {

constexpr std::uint64_t file_number(std::uint64_t device, std::uint64_t inode) {
  return (device * 0x9e3779b97f4a7c15 ^ inode) | std::uint64_t{1} << 63;
}
// Returns a number for the open file, of its device and inode; 0, with errno, if none is open.
// Async-signal-safe.
std::uint64_t file_number(int fd);

// Owns a file descriptor. Move only.
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
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  // Some file systems report only here that data could not be stored.
  int close();

 private:
  int fd_;
};

// Owns a descriptor that stays open while the application runs, which may close any number and get
// it again for a file of its own, as daemons do.
class KeptDescriptor {
 public:
  KeptDescriptor() = default;
  KeptDescriptor(const KeptDescriptor &) = delete;
  KeptDescriptor &operator=(const KeptDescriptor &) = delete;
  ~KeptDescriptor() { keep(-1); }

  // Takes the descriptor; closes the one before, unless that is another file's by now.
  void keep(int fd);

  // Returns the descriptor; -1, with EBADF, if there is none or if it is another file's by now.
  // Async-signal-safe.
  int get() const;
  // Returns the descriptor, whatever it is by now.
  int number() const { return file_.get(); }
  explicit operator bool() const { return static_cast<bool>(file_); }
  int release() { return file_.release(); }

 private:
  Descriptor file_;
  std::uint64_t number_ = 0;
};

// While it lives, this thread is not cancelled, since Kiln's own system calls must not be
// cancellation points: the functions of OpenCL that the application calls are none, and locks that
// this thread holds would stay locked. An object must not live while a driver is called. Windows
// and Android have no cancellation. Async-signal-safe.
class NotCancelled {
 public:
#ifdef KILN_HAS_CANCELLATION
  NotCancelled() { (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NotCancelled() { (void)pthread_setcancelstate(before_, nullptr); }
#else
  NotCancelled() {}
#endif
  NotCancelled(const NotCancelled &) = delete;
  NotCancelled &operator=(const NotCancelled &) = delete;

 private:
#ifdef KILN_HAS_CANCELLATION
  int before_ = 0;
#endif
};

// Repeats a system call, in which no thread is cancelled, as long as a signal interrupts it, and
// returns its result. Linux and Android have TEMP_FAILURE_RETRY for this, other systems do not.
template <typename Call>
auto uninterrupted(Call call) -> decltype(call()) {
  const NotCancelled here;
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// Appends a line in one call, so that its bytes stay together in a file that several processes
// write to. Returns false, with errno, if fewer bytes were written.
bool write_line(int fd, const void *bytes, std::size_t size);

// Writes all bytes: at `offset` of a file, or to a pipe.
int write_all(int fd, View bytes, std::uint64_t offset);
int write_all(int fd, View bytes);
// Writes in one call, whose failure is not noticed. Async-signal-safe.
void overwrite(int fd, View bytes, std::uint64_t offset);

// Reads `size` bytes from `offset` of a file, fewer only at its end; sets `*size` to the number.
int read_all(int fd, std::uint64_t offset, std::uint8_t *to, std::size_t *size);

}  // namespace kiln::packs
