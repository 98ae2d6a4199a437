// SPDX-License-Identifier: Apache-2.0
// Lists a folder's files that end in ".kiln", sorted. On POSIX the lock is on the folder itself, so
// that no lock file is left over.
#include "kiln/packs/pack_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <thread>

#include "kiln/packs/files.hpp"
#include "kiln/packs/path.hpp"

namespace kiln::packs {

Status packs_in(const std::string &folder, std::vector<std::string> *out) {
  namespace fs = std::filesystem;
  std::error_code error;
  out->clear();
  for (fs::directory_iterator entry(to_path(folder), error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".kiln") out->push_back(from_path(entry->path()));
  }
  if (error) return {Code::io_error, folder + ": " + error.message()};
  std::sort(out->begin(), out->end());
  return {};
}

Status packs_at(const std::string &path, std::vector<std::string> *out) {
  std::error_code error;
  if (std::filesystem::is_directory(to_path(path), error)) return packs_in(path, out);
  *out = {path};
  return {};
}

// Returns true if there is nothing to wait for.
bool FolderLock::try_lock(const std::string &path, std::string *folder) {
  std::error_code error;
  namespace fs = std::filesystem;
  *folder =
      from_path(fs::weakly_canonical(fs::absolute(to_path(path), error), error).parent_path());
  folder_ = Descriptor(open_lock_of(*folder));
  return !folder_ || packs::try_lock(folder_.get(), Lock::alone) || errno != EWOULDBLOCK;
}

FolderLock::FolderLock(const std::string &path, const Waiting &waiting) {
  std::string folder;
  if (try_lock(path, &folder)) return;
  if (waiting) waiting(folder);
  (void)lock(folder_.get(), Lock::alone);
}

FolderLock::FolderLock(const std::string &path, std::chrono::milliseconds patience) {
  std::string folder;
  if (try_lock(path, &folder)) return;
  const auto end = std::chrono::steady_clock::now() + patience;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (packs::try_lock(folder_.get(), Lock::alone)) return;
  } while (std::chrono::steady_clock::now() < end);
  is_refused_ = true;
}

// Closing alone would leave the lock to forked processes.
FolderLock::~FolderLock() {
  if (folder_ && !is_refused_) unlock(folder_.get());
}

}  // namespace kiln::packs
