// SPDX-License-Identifier: Apache-2.0
// Reads files of foreign caches within limits, and writes them whole.
#include "builder/caches/cache_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "builder/base/atomic_text_file.hpp"

namespace kiln::builder {

namespace fs = std::filesystem;

Result<packs::Bytes> read_cache_file(const std::string &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return Status(Code::not_found, path + ": there is no such file");
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > kMaxCacheFile) {
    return Status(Code::bad_input, path + ": larger than any file of a cache");
  }
  std::ifstream in(path, std::ios::binary);
  packs::Bytes bytes(error ? 0 : size);
  const bool read =
      in && !error &&
      in.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(size));
  if (!read) return Status(Code::io_error, path + ": cannot be read");
  return bytes;
}

Status write_cache_file(const std::string &path, std::string_view bytes) {
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) {
    return {Code::io_error, folder.string() + ": " + (error ? error.message() : "not a folder")};
  }
  return write_whole_file(path, bytes);
}

void append_u32(std::uint32_t value, std::string *out) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

std::vector<std::string> names_in(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_hex(std::string_view text, std::size_t count) {
  return text.size() == count &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<std::vector<std::string>> device_strings(const runtime::Facts &device,
                                                std::initializer_list<runtime::Field> fields) {
  std::vector<std::string> values;
  for (const runtime::Field field : fields) {
    const std::string *value = runtime::find_fact(device, runtime::field_name(field));
    if (value == nullptr) {
      return Status(Code::requirement, std::string("the device's ") + runtime::field_name(field) +
                                           " is not known, of which the application makes its key");
    }
    values.push_back(*value);
  }
  return values;
}

}  // namespace kiln::builder
