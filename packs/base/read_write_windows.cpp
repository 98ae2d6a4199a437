// SPDX-License-Identifier: Apache-2.0
// Reads and writes by the handle of a descriptor. No signal interrupts a call here.
#include <algorithm>
#include <cerrno>

#include "kiln/packs/descriptor.hpp"
#include "packs/base/windows.hpp"

namespace kiln::packs {
namespace {

constexpr std::size_t kMaxAtOnce = std::size_t{1} << 30;

OVERLAPPED at_offset(std::uint64_t offset) {
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return at;
}

DWORD part_of(std::size_t size) { return static_cast<DWORD>(std::min(size, kMaxAtOnce)); }

}  // namespace

std::uint64_t file_number(int fd) {
  BY_HANDLE_FILE_INFORMATION facts;
  if (GetFileInformationByHandle(handle_of(fd), &facts) == 0) return set_errno(), 0;
  const std::uint64_t index =
      static_cast<std::uint64_t>(facts.nFileIndexHigh) << 32 | facts.nFileIndexLow;
  return file_number(facts.dwVolumeSerialNumber, index);
}

int write_all(int fd, View bytes, std::uint64_t offset) {
  while (bytes.size != 0) {
    OVERLAPPED at = at_offset(offset);
    DWORD n = 0;
    if (WriteFile(handle_of(fd), bytes.data, part_of(bytes.size), &n, &at) == 0) set_errno();
    if (n == 0) return errno;
    bytes = {bytes.data + n, bytes.size - n};
    offset += n;
  }
  return 0;
}

int write_all(int fd, View bytes) {
  while (bytes.size != 0) {
    DWORD n = 0;
    if (WriteFile(handle_of(fd), bytes.data, part_of(bytes.size), &n, nullptr) == 0) set_errno();
    if (n == 0) return errno;
    bytes = {bytes.data + n, bytes.size - n};
  }
  return 0;
}

void overwrite(int fd, View bytes, std::uint64_t offset) { (void)write_all(fd, bytes, offset); }

bool write_line(int fd, const void *bytes, std::size_t size) {
  DWORD n = 0;
  if (WriteFile(handle_of(fd), bytes, part_of(size), &n, nullptr) == 0) return set_errno();
  if (n != size) errno = ENOSPC;
  return n == size;
}

int read_all(int fd, std::uint64_t offset, std::uint8_t *to, std::size_t *size) {
  const std::size_t wanted = *size;
  *size = 0;
  while (*size < wanted) {
    OVERLAPPED at = at_offset(offset + *size);
    DWORD n = 0;
    if (ReadFile(handle_of(fd), to + *size, part_of(wanted - *size), &n, &at) == 0) {
      if (GetLastError() == ERROR_HANDLE_EOF) return 0;
      set_errno();
      return errno;
    }
    if (n == 0) break;
    *size += n;
  }
  return 0;
}

}  // namespace kiln::packs
