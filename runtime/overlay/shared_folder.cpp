// SPDX-License-Identifier: Apache-2.0
// Everything below the shared folder is reached through its descriptor. Any other user may add,
// replace and remove names of their own there at any time, which at most costs a miss.
#include "runtime/overlay/shared_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/packs/bytes.hpp"
#include "runtime/overlay/private_folder.hpp"

namespace kiln::runtime {
namespace {

using packs::Status;

constexpr char kSigned[] = ".kiln";

// Opens the shared folder. Fails if a user could replace another user's files in it.
Status open_shared(const std::string &path, Descriptor *out) {
  Descriptor folder(packs::open_folder(path.c_str(), false));
  struct stat info {};
  if (!folder || !packs::status_of(folder.get(), &info)) return file_failure(path, errno);
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0) {
    return Status::error(packs::Code::io_error,
                         {path, ": others may write to it and it is not sticky: chmod +t"});
  }
  *out = std::move(folder);
  return {};
}

// A slash at the end would follow a link.
std::string without_slash(const char *path) {
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  return name;
}

std::string own_name() { return packs::decimal(geteuid()); }

int open_below(const Descriptor &shared, const std::string &name) {
  const packs::NotCancelled here;
  return openat(shared.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

std::string signed_pack_of(uid_t user) { return packs::decimal(user) + kSigned; }

// Returns whether the name could be that of a user's signed pack.
bool is_signed_pack(const std::string &name) {
  const std::size_t digits = name.find_first_not_of("0123456789");
  return digits != 0 && digits != std::string::npos &&
         name.compare(digits, name.npos, kSigned) == 0;
}

// Opens a user's signed pack. Returns null if it is another user's file, who could else put any
// number of them in the way of the signed ones.
std::shared_ptr<const packs::Pack> open_shared(const Descriptor &shared, const std::string &name) {
  std::shared_ptr<const packs::Pack> pack;
  const Descriptor file(packs::open_at_itself(shared.get(), name.c_str(), O_RDONLY));
  struct stat info {};
  if (file && packs::status_of(file.get(), &info) && S_ISREG(info.st_mode) &&
      name == signed_pack_of(info.st_uid)) {
    (void)packs::Pack::open_descriptor(file.get(), 0, static_cast<std::uint64_t>(info.st_size),
                                       &pack);
  }
  return pack;
}

}  // namespace

Status own_overlay(const char *shared, std::string *overlay) {
  const std::string path = without_slash(shared);
  const std::string own = packs::concat({path, "/", own_name()});
  Descriptor folder;
  if (Status s = open_shared(path, &folder); !s.ok()) return s;
  Descriptor below(open_below(folder, own_name()));
  if (!below && errno == ENOENT) {
    constexpr mode_t kOwner = 0700;
    if (mkdirat(folder.get(), own_name().c_str(), kOwner) != 0 && errno != EEXIST) {
      return file_failure(own, errno);
    }
    below = Descriptor(open_below(folder, own_name()));
  }
  struct stat info {};
  if (!below) {
    const int error = errno;  // Linux says ENOTDIR for a link
    const bool is_link =
        packs::status_at(folder.get(), own_name().c_str(), &info) && S_ISLNK(info.st_mode);
    return file_failure(own, is_link ? ELOOP : error);
  }
  if (!packs::status_of(below.get(), &info)) return file_failure(own, errno);
  if (!packs::is_private(below.get(), info)) return file_failure(own, EPERM);
  *overlay = own;
  return {};
}

std::vector<std::shared_ptr<const packs::Pack>> open_others(const char *shared) {
  std::vector<std::shared_ptr<const packs::Pack>> others;
  Descriptor folder;
  std::vector<std::string> names;
  if (!open_shared(without_slash(shared), &folder).ok() ||
      !packs::list_folder(folder.get(), &names)) {
    return others;
  }
  std::sort(names.begin(), names.end());
  const std::string own = signed_pack_of(geteuid());
  for (const std::string &name : names) {
    if (others.size() == kMaxOthers) break;
    if (!is_signed_pack(name) || name == own) continue;
    if (auto pack = open_shared(folder, name)) others.push_back(std::move(pack));
  }
  return others;
}

Status write_for_others(const char *shared, packs::View pack) {
  const std::string path = without_slash(shared);
  Descriptor folder;
  if (Status s = open_shared(path, &folder); !s.ok()) return s;
  const std::string name = signed_pack_of(geteuid());
  constexpr mode_t kReadable = 0644;
  packs::AtomicFile file;
  int error = file.create(folder.get(), packs::concat({name, ".", hex64(unique_number()), ".tmp"}),
                          kReadable);
  if (error == 0) error = file.write(pack, 0);
  if (error == 0) error = file.commit(name, folder.get());
  return error == 0 ? Status() : file_failure(packs::concat({path, "/", name}), error);
}

std::uint32_t machine_number() {
  char name[HOST_NAME_MAX + 1] = {};
  (void)gethostname(name, sizeof(name) - 1);
  return static_cast<std::uint32_t>(packs::xxh3(std::string_view(name)) | 1);
}

}  // namespace kiln::runtime
