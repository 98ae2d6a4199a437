// SPDX-License-Identifier: Apache-2.0
// The memory that a pack is read from: mapping a file, or copying it.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/pack.hpp"

namespace kiln::packs {
namespace {

Status system_error(const char *what, int error) {
  return Status::error(Code::io_error, {what, ": ", std::strerror(error)});
}

}  // namespace

Storage::~Storage() {
  if (map_ != nullptr) munmap(map_, map_size_);
}

Status Storage::map(int fd, std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t limit = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (length > kMaxPackSize || length > std::numeric_limits<std::size_t>::max() / 2 ||
      offset > limit - length) {
    return Status::error(Code::over_limit, "the range to open is over 1 TiB");
  }
  struct stat info {};
  if (fstat(fd, &info) != 0) return system_error("cannot open the pack", errno);
  if (S_ISREG(info.st_mode)) {  // touching a page behind the end of a file would end the process
    const auto size = static_cast<std::uint64_t>(info.st_size);
    length = std::min(length, size - std::min(size, offset));
  }
  if (length == 0) return {};
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t lead = offset % page;
  if (lead % kAlignment != 0) return copy(fd, offset, length);
  map_size_ = static_cast<std::size_t>(length + lead);
  map_ = mmap(nullptr, map_size_, PROT_READ, MAP_PRIVATE, fd, static_cast<off_t>(offset - lead));
  if (map_ == MAP_FAILED) {
    map_ = nullptr;
    return copy(fd, offset, length);
  }
  view_ = {static_cast<const std::uint8_t *>(map_) + lead, static_cast<std::size_t>(length)};
  return {};
}

Status Storage::copy(int fd, std::uint64_t offset, std::uint64_t length) {
  copy_.reset(new (std::nothrow) std::uint64_t[static_cast<std::size_t>(length / 8 + 1)]);
  if (!copy_) return Status::error(Code::io_error, "no memory for a copy of the pack");
  auto *bytes = reinterpret_cast<std::uint8_t *>(copy_.get());
  auto size = static_cast<std::size_t>(length);
  if (int error = read_all(fd, offset, bytes, &size); error != 0) {
    return system_error("cannot read the pack", error);
  }
  view_ = {bytes, size};
  return {};
}

}  // namespace kiln::packs
