// SPDX-License-Identifier: Apache-2.0
// Reads until the end, since files of /proc have no size; writes through one packs::OutputFile.
#include "builder/base/whole_file.hpp"

#include <algorithm>

#include "kiln/packs/files.hpp"
#include "kiln/packs/output_file.hpp"
#include "kiln/packs/path.hpp"

namespace kiln::builder {

std::filesystem::path normal_path(const std::filesystem::path &path) {
  std::filesystem::path normal = path.lexically_normal();
  std::error_code error;
  const bool is_other =
      std::filesystem::exists(path, error) && !std::filesystem::equivalent(path, normal, error);
  return is_other ? path : normal;
}

// A stream opens a file by its name alone, so the file is opened twice.
std::ifstream open_file(const std::filesystem::path &path) {
  std::ifstream file;
  const packs::Descriptor checked(
      packs::open_at(packs::kWorkingFolder, packs::from_path(path).c_str(), O_RDONLY));
  if (checked) file.open(path, std::ios::binary);
  return file;
}

std::optional<std::string> read_whole_file(const std::filesystem::path &path) {
  std::ifstream file = open_file(path);
  if (!file.is_open()) return std::nullopt;
  std::string bytes;
  std::size_t size = 0;
  do {
    size = bytes.size();
    bytes.resize(size + std::max<std::size_t>(size, 65'536));
    file.read(bytes.data() + size, static_cast<std::streamsize>(bytes.size() - size));
    bytes.resize(size + static_cast<std::size_t>(file.gcount()));
  } while (file);
  if (file.bad()) return std::nullopt;
  return bytes;
}

Status write_whole_file(const std::string &path, std::string_view bytes) {
  packs::OutputFile file;
  if (Status s = file.open(path); !s.ok()) return s;
  const auto *data = reinterpret_cast<const std::uint8_t *>(bytes.data());
  if (Status s = file.append({data, bytes.size()}); !s.ok()) return s;
  return file.commit();
}

}  // namespace kiln::builder
