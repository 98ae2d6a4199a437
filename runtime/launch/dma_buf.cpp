// SPDX-License-Identifier: Apache-2.0
// Asks with flags that no dma-buf takes, so that asking does nothing.
#include "runtime/launch/dma_buf.hpp"

#include <cerrno>

#include <unistd.h>
#ifdef __linux__
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#endif

namespace kiln::runtime {

packs::Status check_dma_buf(int fd, std::uint64_t *bytes) {
  const auto refuse = [](const char *why) {
    return packs::Status::error(packs::Code::bad_argument, why);
  };
  int error = fd < 0 ? EBADF : 0;
#ifdef __linux__
  // A dma-buf answers EINVAL, and what has no such request ENOTTY. A policy may forbid to ask.
  dma_buf_sync impossible{};
  impossible.flags = ~impossible.flags;
  if (fd >= 0 && ioctl(fd, DMA_BUF_IOCTL_SYNC, &impossible) != 0) error = errno;
#endif
  if (error == EBADF) return refuse("the file descriptor is not open");
  if (error == ENOTTY) return refuse("the file descriptor is not one of a dma-buf");
  const off_t end = lseek(fd, 0, SEEK_END);
  *bytes = end < 0 ? UINT64_MAX : static_cast<std::uint64_t>(end);
  return {};
}

}  // namespace kiln::runtime
