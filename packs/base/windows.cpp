// SPDX-License-Identifier: Apache-2.0
// Converts between UTF-8 and UTF-16, and names the errors that callers tell apart.
#include "packs/base/windows.hpp"

#include <cerrno>

#include <io.h>

namespace kiln::packs {

std::wstring wide(const char *text) {
  errno = EILSEQ;
  const int size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, nullptr, 0);
  if (size == 0) return {};
  std::wstring all(static_cast<std::size_t>(size), L'\0');
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, all.data(), size);
  all.pop_back();
  if (all.empty()) errno = ENOENT;
  return all;
}

std::string narrow(const wchar_t *text) {
  const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
  if (size == 0) return {};
  std::string all(static_cast<std::size_t>(size), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, -1, all.data(), size, nullptr, nullptr);
  all.pop_back();
  return all;
}

HANDLE handle_of(int fd) {
  if (fd < 0) return INVALID_HANDLE_VALUE;
  return reinterpret_cast<HANDLE>(_get_osfhandle(fd));
}

bool set_errno(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME:
    case ERROR_BAD_NETPATH: errno = ENOENT; break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: errno = EEXIST; break;
    case ERROR_ACCESS_DENIED:
    case ERROR_WRITE_PROTECT:
    case ERROR_SHARING_VIOLATION: errno = EACCES; break;
    case ERROR_LOCK_VIOLATION:
    case ERROR_IO_PENDING: errno = EWOULDBLOCK; break;
    case ERROR_INVALID_HANDLE: errno = EBADF; break;
    case ERROR_DIRECTORY: errno = ENOTDIR; break;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
    case ERROR_NOT_ENOUGH_QUOTA: errno = ENOSPC; break;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY: errno = ENOMEM; break;
    case ERROR_TOO_MANY_OPEN_FILES: errno = EMFILE; break;
    case ERROR_INVALID_PARAMETER: errno = EINVAL; break;
    default: errno = EIO; break;
  }
  return false;
}

}  // namespace kiln::packs
