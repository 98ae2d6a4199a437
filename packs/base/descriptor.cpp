// SPDX-License-Identifier: Apache-2.0
// Closes descriptors; read_write.cpp and read_write_windows.cpp read and write.
#include "kiln/packs/descriptor.hpp"

#include <unistd.h>

namespace kiln::packs {

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

}  // namespace kiln::packs
