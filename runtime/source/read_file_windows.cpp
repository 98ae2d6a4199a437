// SPDX-License-Identifier: Apache-2.0
// For Windows: a file is known by its volume and index, its state by size and time.
#include <cerrno>

#include "kiln/packs/files.hpp"
#include "kiln/packs/text.hpp"
#include "packs/base/windows.hpp"
#include "runtime/source/flatten.hpp"

namespace kiln::source {
namespace {

std::string pair_of(DWORD high, DWORD low) {
  return packs::hex64(static_cast<std::uint64_t>(high) << 32 | low);
}

// Identifies the file or folder.
std::string identity_of(const BY_HANDLE_FILE_INFORMATION &info) {
  return packs::concat({packs::hex64(info.dwVolumeSerialNumber), ":",
                        pair_of(info.nFileIndexHigh, info.nFileIndexLow)});
}

OpenedFile read_file(const std::filesystem::path &path) {
  const packs::Descriptor file(
      packs::open_at(packs::kWorkingFolder, path.string().c_str(), O_RDONLY));
  // Compilers try the next folder where a folder has the name.
  if (!file && (errno == ENOENT || errno == ENOTDIR || errno == EISDIR)) return {};
  OpenedFile opened;
  opened.outcome = OpenedFile::Outcome::refused;
  BY_HANDLE_FILE_INFORMATION info;
  if (!file || GetFileInformationByHandle(packs::handle_of(file.get()), &info) == 0) return opened;
  if (info.nFileSizeHigh != 0 || info.nFileSizeLow > kMaxTextBytes) return opened;
  opened.text.resize(info.nFileSizeLow);
  std::size_t size = opened.text.size();
  auto *bytes = reinterpret_cast<std::uint8_t *>(opened.text.data());
  if (packs::read_all(file.get(), 0, bytes, &size) != 0) return opened;
  opened.text.resize(size);
  opened.identity = packs::concat(
      {identity_of(info), ":", packs::hex64(info.nFileSizeLow), ":",
       pair_of(info.ftLastWriteTime.dwHighDateTime, info.ftLastWriteTime.dwLowDateTime)});
  const std::filesystem::path parent = path.parent_path();
  const packs::Descriptor folder(
      packs::open_folder(parent.empty() ? "." : parent.string().c_str(), true));
  if (!folder || GetFileInformationByHandle(packs::handle_of(folder.get()), &info) == 0) {
    return opened;
  }
  opened.place = packs::concat({identity_of(info), "/", path.filename().string()});
  opened.outcome = OpenedFile::Outcome::read;
  return opened;
}

}  // namespace

ReadFile read_from_disk() { return read_file; }

}  // namespace kiln::source
