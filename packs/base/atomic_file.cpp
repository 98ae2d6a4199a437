// SPDX-License-Identifier: Apache-2.0
// Writes to a temporary file with a unique name, which is synced and then renamed.
#include "kiln/packs/atomic_file.hpp"

#include <atomic>
#include <cstdio>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "kiln/packs/bytes.hpp"

namespace kiln::packs {

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlinkat(at_, temporary_.c_str(), 0);
}

int AtomicFile::create(int at, std::string temporary, mode_t mode) {
  constexpr int kNewFile = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  file_ = Descriptor(openat(at, temporary.c_str(), kNewFile, mode));
  if (!file_) return errno;
  at_ = at;
  temporary_ = std::move(temporary);
  return 0;
}

int AtomicFile::write(View bytes, std::uint64_t offset) {
  return write_all(file_.get(), bytes, offset);
}

int AtomicFile::commit(const std::string &name, int folder, bool is_synced) {
  if (is_synced && fsync(file_.get()) != 0) return errno;
  if (const int error = file_.close(); error != 0) return error;
  if (renameat(at_, temporary_.c_str(), at_, name.c_str()) != 0) return errno;
  temporary_.clear();
  // EINVAL: the file system cannot sync folders.
  return !is_synced || folder < 0 || fsync(folder) == 0 || errno == EINVAL ? 0 : errno;
}

std::uint64_t unique_number() {
  static std::atomic<unsigned> counter{0};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::uint64_t facts[4] = {static_cast<std::uint64_t>(now.tv_sec),
                                  static_cast<std::uint64_t>(now.tv_nsec),
                                  static_cast<std::uint64_t>(getpid()), ++counter};
  return xxh3(facts, sizeof(facts));
}

}  // namespace kiln::packs
