// SPDX-License-Identifier: Apache-2.0
// Opens, reads and writes below the folder, and refuses files that others can write to.
#include "runtime/overlay/private_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <unistd.h>

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime {
namespace {

constexpr time_t kUseSeconds = 24 * 3600;

// Returns whether no working directory is part of it; on Windows also "C:\..." and "\\server\...".
bool is_absolute(const std::string &path) {
#ifdef _WIN32
  if (path[0] == '\\' || path[1] == ':') return true;
#endif
  return path[0] == '/';
}

// Stays as it is if the working directory has no name.
std::string absolute(std::string path) {
  char folder[4096];
  if (is_absolute(path) || getcwd(folder, sizeof(folder)) == nullptr) return path;
  return packs::concat({folder, "/", path});
}

}  // namespace

int Folder::open(const char *given, Folder *out) {
  // A slash at the end would follow a link.
  std::string name = given;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  const char *path = name.c_str();
  Descriptor fd(packs::open_folder(path, false));
  if (!fd && errno == ENOENT) {
    if (!packs::make_folder(path) && errno != EEXIST) return errno;
    fd = Descriptor(packs::open_folder(path, false));
  }
  struct stat info {};
  if (!fd || !packs::status_of(fd.get(), &info)) return errno;
  if (!packs::is_private(fd.get(), info)) return EPERM;
  out->number_ = packs::file_number(fd.get());
  out->path_ = absolute(std::move(name));
  return 0;
}

int Folder::open_again(Descriptor *out) const {
  Descriptor fd(packs::open_folder(path_.c_str(), false));
  if (!fd) return errno;
  if (packs::file_number(fd.get()) != number_) return ENOENT;
  *out = std::move(fd);
  return 0;
}

int Folder::open_file(const std::string &name, int flags, Descriptor *out,
                      struct stat *info) const {
  Descriptor folder;
  if (const int error = open_again(&folder); error != 0) return error;
  Descriptor fd(packs::open_at_itself(folder.get(), name.c_str(), flags, 0600));
  if (!fd || !packs::status_of(fd.get(), info)) return errno;
  if (!packs::is_private(fd.get(), *info)) return EPERM;
  if (info->st_nlink > 1) return EMLINK;
  *out = std::move(fd);
  return 0;
}

int Folder::read_file(const std::string &name, std::uint64_t limit, packs::Bytes *out,
                      struct stat *info, Descriptor *file) const {
  if (int error = open_file(name, O_RDONLY, file, info); error != 0) return error;
  if (static_cast<std::uint64_t>(info->st_size) > limit) return EFBIG;
  out->resize(static_cast<std::size_t>(info->st_size));
  std::size_t size = out->size();
  const int error = packs::read_all(file->get(), 0, out->data(), &size);
  out->resize(size);  // if it was shortened meanwhile, the reader's hash check fails
  return error;
}

int Folder::write_file(const std::string &name, const packs::View *parts, std::size_t count) const {
  Descriptor folder;
  if (const int error = open_again(&folder); error != 0) return error;
  packs::AtomicFile file;
  int error = file.create(folder.get(), kTemporaryPrefix + hex64(unique_number()), 0600);
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < count && error == 0; ++i) {
    error = file.write(parts[i], offset);
    offset += parts[i].size;
  }
  return error == 0 ? file.commit(name, folder.get()) : error;
}

int Folder::remove(const std::string &name) const {
  Descriptor folder;
  if (const int error = open_again(&folder); error != 0) return error;
  return packs::remove_at(folder.get(), name.c_str()) ? 0 : errno;
}

int Folder::status(const std::string &name, struct stat *info) const {
  Descriptor folder;
  if (const int error = open_again(&folder); error != 0) return error;
  return packs::status_at(folder.get(), name.c_str(), info) ? 0 : errno;
}

int Folder::list(std::vector<std::string> *names) const {
  Descriptor folder;
  if (const int error = open_again(&folder); error != 0) return error;
  return packs::list_folder(folder.get(), names) ? 0 : errno;
}

void note_use(const Descriptor &file, const struct stat &info) {
  const time_t now = time(nullptr);
  if (now - info.st_mtime > kUseSeconds || now < info.st_mtime) (void)packs::touch(file.get());
}

void sort_by_use(std::vector<UsedFile> *files) {
  std::sort(files->begin(), files->end(), [](const UsedFile &a, const UsedFile &b) {
    return a.used != b.used ? a.used > b.used : a.name > b.name;
  });
}

std::uint64_t remove_oldest(const Folder &folder, std::vector<UsedFile> *files) {
  const UsedFile &oldest = files->back();
  const std::uint64_t size = folder.remove(oldest.name) == 0 ? oldest.size : 0;
  files->pop_back();
  return size;
}

std::string system_error_text(int error) {
  switch (error) {
    case ELOOP: return "it is a symbolic link";
    case EPERM: return "another user owns it or may write to it";
    case EMLINK: return "it has a second name";
    default: return std::strerror(error);
  }
}

packs::Status file_failure(std::string_view path, int error) {
  return packs::Status::error(packs::Code::io_error, {path, ": ", system_error_text(error)});
}

bool is_name(const std::string &name, const char *prefix, unsigned numbers) {
  const std::size_t start = std::strlen(prefix);
  if (name.size() != start + 17 * numbers - 1 || !starts_with(name, prefix)) return false;
  for (std::size_t i = start; i < name.size(); ++i) {
    const char c = name[i];
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if ((i - start) % 17 == 16 ? c != '-' : !digit) return false;
  }
  return true;
}

}  // namespace kiln::runtime
