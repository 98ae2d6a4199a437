// SPDX-License-Identifier: Apache-2.0
// A table of descriptors without a lock, which exit() and signal handlers can go through.
#include "runtime/overlay/live_markers.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include <unistd.h>

namespace kiln::runtime {
namespace {

// The process that made a marker and its descriptor plus one, in one word, so that a place is taken
// and left in one step; 0: free. What a forked child inherits is another process's, and as good as
// free. Zero-initialised: no constructor runs before main.
std::atomic<std::uint64_t> live_markers[16];

std::uint64_t entry_of(int fd) {
  return static_cast<std::uint64_t>(getpid()) << 32 | static_cast<std::uint32_t>(fd + 1);
}

bool is_own(std::uint64_t entry) { return entry >> 32 == static_cast<std::uint32_t>(getpid()); }

std::atomic<bool> registered;
std::atomic<bool> ending;

// The slots of one marker that this thread is in the driver for.
struct Inside {
  int fd_plus_one;
  std::uint32_t slots;
};
thread_local Inside inside;

void clear_at_exit() { clear_live_markers(true); }

}  // namespace

void add_live_marker(int fd) {
  if (!registered.exchange(true)) (void)std::atexit(clear_at_exit);
  for (std::atomic<std::uint64_t> &marker : live_markers) {
    std::uint64_t entry = marker;
    if (is_own(entry)) continue;
    if (marker.compare_exchange_strong(entry, entry_of(fd))) return;
  }
}

bool remove_live_marker(int fd) {
  for (std::atomic<std::uint64_t> &marker : live_markers) {
    std::uint64_t entry = entry_of(fd);
    (void)marker.compare_exchange_strong(entry, 0);
  }
  // Either the other thread that ends the process has not seen the descriptor, or this one sees
  // that it is there.
  return !ending;
}

void enter_driver(int fd, unsigned slot) {
  if (inside.fd_plus_one != fd + 1) inside = {fd + 1, 0};
  inside.slots |= std::uint32_t{1} << slot;
}

void leave_driver(int fd, unsigned slot) {
  if (inside.fd_plus_one == fd + 1) inside.slots &= ~(std::uint32_t{1} << slot);
}

bool process_is_ending() { return ending; }

void clear_live_markers(bool keep_own) {
  ending = true;
  static const std::uint8_t zeros[kMarkerSlotSize] = {};
  for (const std::atomic<std::uint64_t> &marker : live_markers) {
    const std::uint64_t entry = marker;
    if (!is_own(entry)) continue;
    const int fd = static_cast<int>(static_cast<std::uint32_t>(entry)) - 1;
    for (unsigned slot = 0; slot < kMarkerSlots; ++slot) {
      // A signal handler keeps none: a thread's first look at `inside` may allocate.
      if (keep_own && inside.fd_plus_one == fd + 1 && (inside.slots >> slot & 1) != 0) continue;
      (void)!pwrite(fd, zeros, sizeof(zeros), static_cast<off_t>(slot * kMarkerSlotSize));
    }
  }
}

}  // namespace kiln::runtime
