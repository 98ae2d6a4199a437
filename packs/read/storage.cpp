// SPDX-License-Identifier: Apache-2.0
// Reads ranges by offset, so that threads share the descriptor without a lock.
#include "kiln/packs/storage.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>

#include "kiln/packs/files.hpp"
#include "kiln/packs/format.hpp"

namespace kiln::packs {
namespace {

Status system_error(const char *what, int error) {
  return Status::error(Code::io_error, {what, ": ", std::strerror(error)});
}

}  // namespace

Status Storage::open(int fd, std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t limit = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (length > kMaxPackSize || offset > limit - length) {
    return Status::error(Code::over_limit, "the range to open is over 1 TiB");
  }
  struct stat info {};
  if (!status_of(fd, &info)) return system_error("cannot open the pack", errno);
  if (S_ISREG(info.st_mode)) {
    const auto size = static_cast<std::uint64_t>(info.st_size);
    length = std::min(length, size - std::min(size, offset));
  }
  file_.keep(duplicate(fd));
  if (!file_) return system_error("cannot open the pack", errno);
  offset_ = offset;
  size_ = length;
  return {};
}

Status Storage::share(const Storage &other) {
  if (other.memory_ == nullptr) return open(other.file_.get(), other.offset_, other.size_);
  memory_ = other.memory_;
  size_ = other.size_;
  return {};
}

Status Storage::read(std::uint64_t offset, std::size_t size, std::uint8_t *to) const {
  if (memory_ != nullptr) {
    std::memcpy(to, memory_ + offset, size);
    return {};
  }
  std::size_t got = size;
  if (const int error = read_all(file_.get(), offset_ + offset, to, &got); error != 0) {
    return system_error("cannot read the pack", error);
  }
  if (got == size) return {};
  return Status::error(Code::truncated, "the file became shorter after it was opened");
}

Status Storage::own(std::uint64_t offset, std::size_t size,
                    std::unique_ptr<std::uint8_t[]> *out) const {
  out->reset(new (std::nothrow) std::uint8_t[size]);
  if (*out == nullptr) return Status::error(Code::io_error, "no memory to read the pack");
  return read(offset, size, out->get());
}

}  // namespace kiln::packs
