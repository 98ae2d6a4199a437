// SPDX-License-Identifier: Apache-2.0
// Turns errno numbers into messages with the path.
#include "kiln/packs/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "kiln/packs/files.hpp"
#include "kiln/packs/format.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::packs {
namespace {

Status system_error(const std::string &path, int error) {
  const Code fault = is_for_lack_of_space(error) ? Code::no_space : Code::io_error;
  return Status::error(fault, path + ": " + std::strerror(error));
}

constexpr std::size_t kMaxPending = 1 << 20;

std::string folder_of(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Status OutputFile::open(const std::string &path, bool is_private) {
  path_ = path;
  target_ = path;
  if (!is_private) {
    // A symbolic link stays, and its target is replaced.
    if (!follow_link(&target_)) return system_error(path + ": a symbolic link", errno);
    struct stat info {};
    const bool there = status_at(kWorkingFolder, target_.c_str(), &info);
    if (there && S_ISDIR(info.st_mode)) return system_error(path, EISDIR);
    if (there && !S_ISREG(info.st_mode)) {
      return Status::error(Code::io_error, path + ": not a regular file");  // such as /dev/null
    }
  }
  // Not mkstemp: its file is 0600, and reading the umask would mean changing it.
  const std::string temporary = concat({target_, ".", hex64(unique_number()), ".tmp"});
  const int error = file_.create(kWorkingFolder, temporary, is_private ? 0600 : 0666);
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
  return pending_.size() < kMaxPending ? Status() : flush();
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
  const Descriptor folder(open_folder(folder_of(target_).c_str(), true));
  const int error = file_.commit(target_, folder.get(), is_synced);
  return error == 0 ? Status() : system_error(path_, error);
}

}  // namespace kiln::packs
