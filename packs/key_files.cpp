// SPDX-License-Identifier: Apache-2.0
// Reads and writes files of keys; a secret key is at no time readable by others.
#include "kiln/packs/key_files.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/packs/atomic_file.hpp"

namespace kiln::packs {
namespace {

constexpr std::size_t kMaxKeyFile = 4096;

Status key_file_error(const std::string &path, int error) {
  const Code code = error == ENOENT ? Code::not_found : Code::io_error;
  return Status::error(code, {path, ": ", std::strerror(error)});
}

// A regular file of a sensible size.
Status open_key_file(const std::string &path, Descriptor *file, struct stat *info) {
  *file = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!*file || fstat(file->get(), info) != 0) return key_file_error(path, errno);
  if (!S_ISREG(info->st_mode)) {
    return Status::error(Code::bad_argument, {path, ": not a regular file"});
  }
  if (info->st_size <= static_cast<off_t>(kMaxKeyFile)) return {};
  return Status::error(Code::bad_argument, {path, ": too large for the file of a key"});
}

Status read_text(const std::string &path, const Descriptor &file, const struct stat &info,
                 std::unique_ptr<SecretText> *out) {
  auto text = std::make_unique<SecretText>(static_cast<std::size_t>(info.st_size));
  for (std::size_t at = 0; at < text->size();) {
    const ssize_t got = read(file.get(), text->data() + at, text->size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return key_file_error(path, got < 0 ? errno : EIO);
    at += static_cast<std::size_t>(got);
  }
  *out = std::move(text);
  return {};
}

Status write_new_file(const std::string &path, View bytes, mode_t mode) {
  constexpr int kNewFile = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  Descriptor file(open(path.c_str(), kNewFile, mode));
  if (!file && errno == EEXIST) {
    return Status::error(Code::failed, {path, " is there, and keys are not overwritten"});
  }
  if (!file) return key_file_error(path, errno);
  int error = write_all(file.get(), bytes, 0);
  if (error == 0 && fsync(file.get()) != 0) error = errno;
  if (error == 0) error = file.close();
  if (error == 0) return {};
  unlink(path.c_str());
  return key_file_error(path, error);
}

Status replace_file(const std::string &path, View bytes, mode_t mode) {
  AtomicFile file;
  int error = file.create(AT_FDCWD, concat({path, ".", hex64(unique_number()), ".tmp"}), mode);
  if (error == 0) error = file.write(bytes, 0);
  if (error == 0) error = file.commit(path, -1);
  return error == 0 ? Status() : key_file_error(path, error);
}

}  // namespace

Status read_secret_file(const std::string &path, std::unique_ptr<SecretText> *out) {
  Descriptor file;
  struct stat info {};
  if (Status s = open_key_file(path, &file, &info); !s.ok()) return s;
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Status::error(Code::bad_argument,
                         {path, ": others may read or write this secret key: chmod 600 ", path});
  }
  return read_text(path, file, info, out);
}

Status read_public_key(const std::string &path_or_line, PublicKey *out) {
  Descriptor file;
  struct stat info {};
  Status status = open_key_file(path_or_line, &file, &info);
  if (status.code == Code::not_found && parse_public_key(path_or_line, out).ok()) return {};
  if (!status.ok()) return status;
  std::unique_ptr<SecretText> text;
  if (Status s = read_text(path_or_line, file, info, &text); !s.ok()) return s;
  status = parse_public_key(text->view(), out);
  return status.ok() ? status : Status::error(status.code, {path_or_line, ": ", status.message});
}

Status write_key_files(const SecretKey &key, const std::string &name, bool force) {
  const std::string secret_path = name + ".key";
  const std::string public_path = name + ".pub";
  struct stat info {};
  if (!force && lstat(public_path.c_str(), &info) == 0) {
    return Status::error(Code::failed, {public_path, " is there, and keys are not overwritten"});
  }
  const auto write = force ? replace_file : write_new_file;
  const auto secret = secret_key_file(key);
  if (Status s = write(secret_path, secret->bytes(), 0600); !s.ok()) return s;
  const std::string text = public_key_file(key.public_key());
  Status s =
      write(public_path, {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()}, 0666);
  if (!s.ok() && !force) unlink(secret_path.c_str());
  return s;
}

}  // namespace kiln::packs
