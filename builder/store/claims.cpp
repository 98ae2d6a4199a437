// SPDX-License-Identifier: Apache-2.0
// Locks of open file descriptions: they differ between two stores of one process, too.
#include "builder/store/claims.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>

namespace kiln::builder {
namespace {

struct flock one_byte(short type, long place) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = place;
  range.l_len = 1;
  return range;
}

int lock(int file, int how, short type, long place) {
  struct flock range = one_byte(type, place);
  return packs::uninterrupted([&] { return fcntl(file, how, &range); });
}

// From 1 to the greatest place of a byte.
long place_of(const packs::Digest &key) {
  unsigned long place = 0;
  for (std::size_t i = 0; i < sizeof(place); ++i) place = place << 8 | key[i];
  return static_cast<long>(place >> 2) + 1;
}

}  // namespace

Claims::Claim &Claims::Claim::operator=(Claim &&other) noexcept {
  std::swap(file_, other.file_);
  std::swap(place_, other.place_);
  return *this;
}

void Claims::Claim::release() {
  if (file_ >= 0) (void)lock(file_, F_OFD_SETLK, F_UNLCK, place_);
  file_ = -1;
}

Claims::Claims(const std::string &path)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {}

std::optional<Claims::Claim> Claims::take(const packs::Digest &key) const {
  const long place = place_of(key);
  if (file_ && lock(file_.get(), F_OFD_SETLK, F_WRLCK, place) != 0 &&
      (errno == EAGAIN || errno == EACCES)) {
    return std::nullopt;
  }
  return Claim(file_.get(), place);
}

Claims::Claim Claims::await(const packs::Digest &key) const {
  const long place = place_of(key);
  if (file_) (void)lock(file_.get(), F_OFD_SETLKW, F_WRLCK, place);
  return {file_.get(), place};
}

Claims::Claim Claims::await_first() const {
  if (file_) (void)lock(file_.get(), F_OFD_SETLKW, F_WRLCK, 0);
  return {file_.get(), 0};
}

}  // namespace kiln::builder
