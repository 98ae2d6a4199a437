// SPDX-License-Identifier: Apache-2.0
// Turns errno numbers into messages with the path.
#include "kiln/packs/output_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "kiln/packs/format.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::packs {
namespace {

Status system_error(const std::string &path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return Status::error(full ? Code::no_space : Code::io_error, path + ": " + std::strerror(error));
}

constexpr std::size_t kMostPending = 1 << 20;

std::string folder_of(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Status OutputFile::open(const std::string &path, bool is_private) {
  path_ = path;
  struct stat info {};
  // A symbolic link stays, and its target is replaced.
  const bool link = !is_private && lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  char *const target = link ? realpath(path.c_str(), nullptr) : nullptr;
  if (link && target == nullptr) return system_error(path + ": a symbolic link", errno);
  target_ = link ? target : path;
  std::free(target);
  if (!is_private && stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode)) return system_error(path, EISDIR);
    return Status::error(Code::io_error, path + ": not a regular file");  // such as /dev/null
  }
  // Not mkstemp: its file is 0600, and reading the umask would mean changing it.
  const std::string temporary = concat({target_, ".", hex64(unique_number()), ".tmp"});
  const int error = file_.create(AT_FDCWD, temporary, is_private ? 0600 : 0666);
  return error == 0 ? Status() : system_error(path, error);
}

Status OutputFile::write_at(View bytes, std::uint64_t offset) {
  const int error = file_.write(bytes, offset);
  return error == 0 ? Status() : system_error(path_, error);
}

Status OutputFile::flush() {
  const Bytes bytes = std::exchange(pending_, {});
  return write_at({bytes.data(), bytes.size()}, size_ - bytes.size());
}

Status OutputFile::append(View bytes) {
  pending_.insert(pending_.end(), bytes.data, bytes.data + bytes.size);
  size_ += bytes.size;
  return pending_.size() < kMostPending ? Status() : flush();
}

Status OutputFile::align() {
  const std::uint8_t zeros[kAlignment] = {};
  return append({zeros, static_cast<std::size_t>((kAlignment - size_ % kAlignment) % kAlignment)});
}

Status OutputFile::rewrite_start(View bytes) {
  if (Status status = flush(); !status.ok()) return status;
  return write_at(bytes, 0);
}

Status OutputFile::commit(bool is_synced) {
  if (Status status = flush(); !status.ok()) return status;
  const Descriptor folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int error = file_.commit(target_, folder.get(), is_synced);
  return error == 0 ? Status() : system_error(path_, error);
}

}  // namespace kiln::packs
