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
  const NotCancelled here;
  const int fd = release();
  // Never repeated: after EINTR the descriptor is closed, and its number may belong to another
  // file.
  return fd < 0 || ::close(fd) == 0 ? 0 : errno;
}

void KeptDescriptor::keep(int fd) {
  // If the application has closed the one before, the new one may have its number.
  if (fd == file_.get() || get() < 0) (void)file_.release();
  (void)file_.close();
  file_ = Descriptor(fd);
  number_ = file_number(fd);
}

int KeptDescriptor::get() const {
  if (number_ != 0 && file_number(file_.get()) == number_) return file_.get();
  errno = EBADF;
  return -1;
}

}  // namespace kiln::packs
