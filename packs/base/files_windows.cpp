// SPDX-License-Identifier: Apache-2.0
// For Windows: a descriptor of the C library owns a handle, and a name beside a folder's descriptor
// goes behind the folder's present path.
#include "kiln/packs/files.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <aclapi.h>
#include <io.h>
#include <windows.h>

#include "kiln/packs/atomic_file.hpp"
#include "kiln/packs/text.hpp"
#include "packs/base/windows.hpp"

namespace kiln::packs {
namespace {

// All that others may do with an open file, as on POSIX.
constexpr DWORD kShared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

// Windows 10's, which not all headers of MinGW have.
constexpr auto kDispositionInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(21);
constexpr auto kRenameInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
constexpr DWORD kReplace = 1;
constexpr DWORD kDelete = 1;
constexpr DWORD kLikePosix = 2;

// Returns the path as Windows takes it; empty, with errno, if there is none.
std::wstring path_of(int at, const char *name) {
  std::wstring path = wide(name);
  if (at == kWorkingFolder || path.empty()) return path;
  std::wstring folder(MAX_PATH, L'\0');
  for (;;) {
    const DWORD size = GetFinalPathNameByHandleW(
        handle_of(at), folder.data(), static_cast<DWORD>(folder.size()), VOLUME_NAME_DOS);
    if (size == 0) return set_errno(), std::wstring();
    const bool fits = size < folder.size();
    folder.resize(size);
    if (fits) break;
  }
  if (path == L".") return folder;
  return folder + L'\\' + path;
}

int descriptor_of(HANDLE file, int flags) {
  if (file == INVALID_HANDLE_VALUE) return set_errno(), -1;
  const int kept = flags & (O_APPEND | O_RDONLY);
  const int fd = _open_osfhandle(reinterpret_cast<std::intptr_t>(file), kept | _O_NOINHERIT);
  if (fd < 0) CloseHandle(file);
  return fd;
}

int open_file(int at, const char *name, int flags, DWORD attributes) {
  const std::wstring path = path_of(at, name);
  if (path.empty()) return -1;
  const int access = flags & (O_RDONLY | O_WRONLY | O_RDWR);
  DWORD rights = READ_CONTROL | FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES | SYNCHRONIZE;
  if (access == O_RDONLY) rights = GENERIC_READ;
  if (access != O_WRONLY) rights |= GENERIC_READ;
  // Without the right to write elsewhere, every write appends.
  if (access != O_RDONLY) rights |= (flags & O_APPEND) != 0 ? FILE_APPEND_DATA : GENERIC_WRITE;
  DWORD how = OPEN_EXISTING;
  if ((flags & O_CREAT) != 0) how = (flags & O_EXCL) != 0 ? CREATE_NEW : OPEN_ALWAYS;
  return descriptor_of(
      CreateFileW(path.c_str(), rights, kShared, nullptr, how,
                  FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS | attributes, nullptr),
      flags);
}

std::int64_t seconds_of(const FILETIME &time) {
  constexpr std::int64_t kSecondsTo1970 = 11644473600;
  const auto ticks = static_cast<std::int64_t>(time.dwHighDateTime) << 32 | time.dwLowDateTime;
  return ticks / 10000000 - kSecondsTo1970;
}

bool status_of_handle(HANDLE file, struct stat *info) {
  BY_HANDLE_FILE_INFORMATION facts;
  if (GetFileInformationByHandle(file, &facts) == 0) return set_errno();
  const bool folder = (facts.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  const bool link = (facts.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
  *info = {};
  // A link is neither a file nor a folder here.
  info->st_mode = static_cast<unsigned short>(link ? S_IFCHR : folder ? S_IFDIR : S_IFREG);
  info->st_mode |= S_IRUSR | S_IWUSR;
  info->st_size = static_cast<std::int64_t>(facts.nFileSizeHigh) << 32 | facts.nFileSizeLow;
  info->st_mtime = seconds_of(facts.ftLastWriteTime);
  info->st_nlink = static_cast<short>(facts.nNumberOfLinks);
  FILE_STANDARD_INFO state;
  if (GetFileInformationByHandleEx(file, FileStandardInfo, &state, sizeof(state)) != 0 &&
      state.DeletePending != 0) {
    info->st_nlink = 0;
  }
  return true;
}

// Opens what has the name; fails with ELOOP if that is a symbolic link.
int open_itself(int at, const char *name, int flags) {
  const int fd = open_file(at, name, flags, FILE_FLAG_OPEN_REPARSE_POINT);
  struct stat info {};
  if (fd < 0 || !status_of(fd, &info) || !S_ISCHR(info.st_mode)) return fd;
  close(fd);
  errno = ELOOP;
  return -1;
}

// Closes what is no regular file, and fails.
int only_file(int fd) {
  struct stat info {};
  if (fd < 0 || (status_of(fd, &info) && S_ISREG(info.st_mode))) return fd;
  close(fd);
  errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
  return -1;
}

// Locks one byte that no file has, since a lock of bytes would keep others from reading them.
bool lock_byte(int fd, DWORD how) {
  OVERLAPPED far_away{};
  far_away.Offset = 0xffffffff;
  far_away.OffsetHigh = 0x7fffffff;
  return LockFileEx(handle_of(fd), how, 0, 1, 0, &far_away) != 0 || set_errno();
}

DWORD how_of(Lock how) { return how == Lock::alone ? LOCKFILE_EXCLUSIVE_LOCK : 0; }

// Who may own a private file, and write to it: this user, the system and the administrators.
class Trusted {
 public:
  Trusted() {
    HANDLE token = nullptr;
    if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token) == 0) return;
    DWORD size = 0;
    is_known_ =
        GetTokenInformation(token, TokenUser, user_bytes_, sizeof(user_bytes_), &size) != 0 &&
        well_known(WinLocalSystemSid, system_) &&
        well_known(WinBuiltinAdministratorsSid, administrators_);
    CloseHandle(token);
  }

  bool is_known() const { return is_known_; }
  PSID user() { return reinterpret_cast<TOKEN_USER *>(user_bytes_)->User.Sid; }
  bool has(PSID who) {
    return EqualSid(who, user()) != 0 || EqualSid(who, system_) != 0 ||
           EqualSid(who, administrators_) != 0;
  }

 private:
  static bool well_known(WELL_KNOWN_SID_TYPE which, void *out) {
    DWORD size = SECURITY_MAX_SID_SIZE;
    return CreateWellKnownSid(which, nullptr, out, &size) != 0;
  }

  bool is_known_ = false;
  alignas(TOKEN_USER) char user_bytes_[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
  alignas(8) char system_[SECURITY_MAX_SID_SIZE];
  alignas(8) char administrators_[SECURITY_MAX_SID_SIZE];
};

// Returns whether the list lets nobody but these write. Lists of objects without one let everybody.
bool only_trusted_write(PACL list, Trusted *trusted) {
  constexpr DWORD kWrites = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_DELETE_CHILD | DELETE |
                            WRITE_DAC | WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL;
  if (list == nullptr) return false;
  for (DWORD i = 0; i < list->AceCount; ++i) {
    void *entry = nullptr;
    if (GetAce(list, i, &entry) == 0) return false;
    auto *allowed = static_cast<ACCESS_ALLOWED_ACE *>(entry);
    if (allowed->Header.AceType == ACCESS_DENIED_ACE_TYPE) continue;
    // Entries for what will be made in a folder: the folder's files are looked at themselves.
    if ((allowed->Header.AceFlags & INHERIT_ONLY_ACE) != 0) continue;
    if (allowed->Header.AceType != ACCESS_ALLOWED_ACE_TYPE) return false;
    if ((allowed->Mask & kWrites) != 0 && !trusted->has(&allowed->SidStart)) return false;
  }
  return true;
}

}  // namespace

int open_at(int at, const char *name, int flags, mode_t) {
  return only_file(open_file(at, name, flags, 0));
}

int open_at_itself(int at, const char *name, int flags, mode_t) {
  return only_file(open_itself(at, name, flags));
}

int open_folder(const char *path, bool follows) {
  const int fd = follows ? open_file(kWorkingFolder, path, O_RDONLY, 0)
                         : open_itself(kWorkingFolder, path, O_RDONLY);
  struct stat info {};
  if (fd < 0 || (status_of(fd, &info) && S_ISDIR(info.st_mode))) return fd;
  close(fd);
  errno = ENOTDIR;
  return -1;
}

bool make_folder(const char *path) {
  const std::wstring name = wide(path);
  if (name.empty()) return false;
  Trusted trusted;
  if (!trusted.is_known()) return set_errno();
  // For the folder and all that is made in it, and nothing from the folder above.
  EXPLICIT_ACCESSW owner{};
  owner.grfAccessPermissions = GENERIC_ALL;
  owner.grfAccessMode = SET_ACCESS;
  owner.grfInheritance = SUB_CONTAINERS_AND_OBJECTS_INHERIT;
  owner.Trustee.TrusteeForm = TRUSTEE_IS_SID;
  owner.Trustee.ptstrName = static_cast<LPWSTR>(trusted.user());
  PACL list = nullptr;
  if (const DWORD error = SetEntriesInAclW(1, &owner, nullptr, &list); error != ERROR_SUCCESS) {
    return set_errno(error);
  }
  SECURITY_DESCRIPTOR security;
  SECURITY_ATTRIBUTES attributes{sizeof(attributes), &security, FALSE};
  const bool made =
      InitializeSecurityDescriptor(&security, SECURITY_DESCRIPTOR_REVISION) != 0 &&
      SetSecurityDescriptorDacl(&security, TRUE, list, FALSE) != 0 &&
      SetSecurityDescriptorControl(&security, SE_DACL_PROTECTED, SE_DACL_PROTECTED) != 0 &&
      CreateDirectoryW(name.c_str(), &attributes) != 0;
  if (!made) set_errno();
  LocalFree(list);
  return made;
}

int duplicate(int fd) {
  HANDLE file = INVALID_HANDLE_VALUE;
  const HANDLE process = GetCurrentProcess();
  if (DuplicateHandle(process, handle_of(fd), process, &file, 0, FALSE, DUPLICATE_SAME_ACCESS) ==
      0) {
    return set_errno(), -1;
  }
  return descriptor_of(file, 0);
}

// Where a file that others have open cannot be replaced: the file goes aside, with a name that
// runtime::Folder cleans up, then `from` takes its place. In between there is no such file.
bool replace_open(const std::wstring &from, const std::wstring &to) {
  const std::string name = "temporary-" + hex64(unique_number());
  const std::wstring aside = to.substr(0, to.find_last_of(L"\\/") + 1) + wide(name.c_str());
  if (MoveFileExW(to.c_str(), aside.c_str(), 0) == 0) return set_errno();
  if (MoveFileExW(from.c_str(), to.c_str(), 0) == 0) {
    set_errno();
    (void)MoveFileExW(aside.c_str(), to.c_str(), 0);
    return false;
  }
  (void)DeleteFileW(aside.c_str());  // at once, or when the last has closed it
  return true;
}

// At once, as on POSIX, on NTFS from Windows 10 (1709) on; not on some other file systems, and not
// under Wine 8.
bool rename_at(int at, const char *from, const char *to) {
  const std::wstring old_path = path_of(at, from);
  const std::wstring path = path_of(at, to);
  if (old_path.empty() || path.empty()) return false;
  const DWORD attributes = GetFileAttributesW(path.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    errno = EISDIR;
    return false;
  }
  const HANDLE file = CreateFileW(old_path.c_str(), DELETE | SYNCHRONIZE, kShared, nullptr,
                                  OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
  if (file == INVALID_HANDLE_VALUE) return set_errno();
  const std::size_t size = path.size() * sizeof(wchar_t);
  Bytes bytes(sizeof(FILE_RENAME_INFO) + size);
  auto *request = reinterpret_cast<FILE_RENAME_INFO *>(bytes.data());
  const DWORD flags = kReplace | kLikePosix;
  std::memcpy(bytes.data(), &flags, sizeof(flags));  // a field without a name in some headers
  request->FileNameLength = static_cast<DWORD>(size);
  std::memcpy(request->FileName, path.data(), size);
  const bool renamed = SetFileInformationByHandle(file, kRenameInfoEx, request,
                                                  static_cast<DWORD>(bytes.size())) != 0;
  CloseHandle(file);
  return renamed || MoveFileExW(old_path.c_str(), path.c_str(), MOVEFILE_REPLACE_EXISTING) != 0 ||
         replace_open(old_path, path);
}

// As rename_at(): elsewhere the name is there until all have closed the file.
bool remove_at(int at, const char *name) {
  const std::wstring path = path_of(at, name);
  if (path.empty()) return false;
  const HANDLE file =
      CreateFileW(path.c_str(), DELETE | SYNCHRONIZE, kShared, nullptr, OPEN_EXISTING,
                  FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return set_errno();
  struct stat info {};
  if (status_of_handle(file, &info) && S_ISDIR(info.st_mode)) {
    CloseHandle(file);
    errno = EISDIR;
    return false;
  }
  DWORD request = kDelete | kLikePosix;
  const bool removed =
      SetFileInformationByHandle(file, kDispositionInfoEx, &request, sizeof(request)) != 0;
  CloseHandle(file);
  return removed || DeleteFileW(path.c_str()) != 0 || set_errno();
}

bool status_at(int at, const char *name, struct stat *info) {
  const std::wstring path = path_of(at, name);
  if (path.empty()) return false;
  const HANDLE file =
      CreateFileW(path.c_str(), FILE_READ_ATTRIBUTES | SYNCHRONIZE, kShared, nullptr, OPEN_EXISTING,
                  FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return set_errno();
  const bool known = status_of_handle(file, info);
  CloseHandle(file);
  return known;
}

// Links need a privilege here and are rare: OutputFile refuses them.
bool follow_link(std::string *) { return true; }

bool status_of(int fd, struct stat *info) {
  const HANDLE file = handle_of(fd);
  if (GetFileType(file) == FILE_TYPE_DISK) return status_of_handle(file, info);
  return fstat(fd, info) == 0;
}

bool is_private(int fd, const struct stat &) {
  Trusted trusted;
  if (!trusted.is_known()) return false;
  PSID owner = nullptr;
  PACL list = nullptr;
  PSECURITY_DESCRIPTOR security = nullptr;
  if (GetSecurityInfo(handle_of(fd), SE_FILE_OBJECT,
                      OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner, nullptr,
                      &list, nullptr, &security) != ERROR_SUCCESS) {
    return false;
  }
  const bool is = owner != nullptr && trusted.has(owner) && only_trusted_write(list, &trusted);
  LocalFree(security);
  return is;
}

bool list_folder(int folder, std::vector<std::string> *names) {
  const std::wstring pattern = path_of(folder, "*");
  if (pattern.empty()) return false;
  WIN32_FIND_DATAW entry;
  const HANDLE entries = FindFirstFileW(pattern.c_str(), &entry);
  if (entries == INVALID_HANDLE_VALUE) return set_errno();
  do {
    const std::string name = narrow(entry.cFileName);
    if (name != "." && name != "..") names->push_back(name);
  } while (FindNextFileW(entries, &entry) != 0);
  const DWORD error = GetLastError();
  FindClose(entries);
  return error == ERROR_NO_MORE_FILES || set_errno(error);
}

bool touch(int fd) {
  FILETIME now;
  GetSystemTimeAsFileTime(&now);
  return SetFileTime(handle_of(fd), nullptr, nullptr, &now) != 0 || set_errno();
}

bool sync_file(int fd) { return FlushFileBuffers(handle_of(fd)) != 0 || set_errno(); }

// NTFS keeps a log of its names.
bool sync_folder(int) { return true; }

bool lock(int fd, Lock how) { return lock_byte(fd, how_of(how)); }

bool try_lock(int fd, Lock how) { return lock_byte(fd, how_of(how) | LOCKFILE_FAIL_IMMEDIATELY); }

void unlock(int fd) {
  OVERLAPPED far_away{};
  far_away.Offset = 0xffffffff;
  far_away.OffsetHigh = 0x7fffffff;
  (void)UnlockFileEx(handle_of(fd), 0, 1, 0, &far_away);
}

// Folders have no locks: the file stays there.
int open_lock_of(const std::string &folder) {
  return open_at(kWorkingFolder, (folder + "/.lock").c_str(), O_RDWR | O_CREAT);
}

bool is_for_lack_of_space(int error) { return error == ENOSPC || error == EFBIG; }

}  // namespace kiln::packs
