// SPDX-License-Identifier: Apache-2.0
// For POSIX: a file is known by its device and number, its state by size and times.
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include "kiln/packs/files.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/source/flatten.hpp"

namespace kiln::source {
namespace {

using packs::concat;

std::string number(std::uint64_t value) { return packs::hex64(value); }

// Identifies the file or folder; state_of() also covers the state of the contents.
std::string identity_of(const struct stat &info) {
  return number(info.st_dev) + ":" + number(info.st_ino);
}

std::string state_of(const struct stat &info) {
  const auto time = [](const struct timespec &at) {
    return number(static_cast<std::uint64_t>(at.tv_sec)) + "." +
           number(static_cast<std::uint64_t>(at.tv_nsec));
  };
  return concat({identity_of(info), ":", number(static_cast<std::uint64_t>(info.st_size)), ":",
                 time(info.st_mtim), ":", time(info.st_ctim)});
}

OpenedFile read_file(const std::filesystem::path &path) {
  const packs::Descriptor file(packs::open_at(packs::kWorkingFolder, path.c_str(), O_RDONLY));
  // Compilers try the next folder where a folder has the name.
  if (!file && (errno == ENOENT || errno == ENOTDIR || errno == EISDIR)) return {};
  OpenedFile opened;
  opened.outcome = OpenedFile::Outcome::refused;
  struct stat info {};
  if (!file || fstat(file.get(), &info) != 0) return opened;
  if (static_cast<std::uint64_t>(info.st_size) > kMaxTextBytes) return opened;
  opened.text.resize(static_cast<std::size_t>(info.st_size));
  std::size_t size = opened.text.size();
  auto *bytes = reinterpret_cast<std::uint8_t *>(opened.text.data());
  if (packs::read_all(file.get(), 0, bytes, &size) != 0) return opened;
  opened.text.resize(size);
  opened.identity = state_of(info);
  struct stat folder {};
  const std::filesystem::path parent = path.parent_path();
  if (stat(parent.empty() ? "." : parent.c_str(), &folder) != 0) return opened;
  opened.place = concat({identity_of(folder), "/", path.filename().native()});
  opened.outcome = OpenedFile::Outcome::read;
  return opened;
}

}  // namespace

ReadFile read_from_disk() { return read_file; }

}  // namespace kiln::source
