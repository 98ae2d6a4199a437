// SPDX-License-Identifier: Apache-2.0
// Writes to a temporary file with a unique name, which is synced and then renamed.
#include "kiln/packs/atomic_file.hpp"

#include <atomic>
#include <cstdio>
#include <ctime>
#include <utility>

#include <unistd.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/files.hpp"

namespace kiln::packs {

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) remove_at(at_, temporary_.c_str());
}

int AtomicFile::create(int at, std::string temporary, mode_t mode) {
  file_ = Descriptor(open_at_itself(at, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode));
  if (!file_) return errno;
  at_ = at;
  temporary_ = std::move(temporary);
  return 0;
}

int AtomicFile::write(View bytes, std::uint64_t offset) {
  return write_all(file_.get(), bytes, offset);
}

int AtomicFile::commit(const std::string &name, int folder, bool is_synced) {
  if (is_synced && !sync_file(file_.get())) return errno;
  if (const int error = file_.close(); error != 0) return error;
  if (!rename_at(at_, temporary_.c_str(), name.c_str())) return errno;
  temporary_.clear();
  return !is_synced || folder < 0 || sync_folder(folder) ? 0 : errno;
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
