// SPDX-License-Identifier: Apache-2.0
// Recovers the text that an application gave to its driver from the flattened source of a pack;
// reads files of other applications' caches within limits, and replaces them whole.
#include "builder/caches/application_cache.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <sys/types.h>

#include <md5.h>

#include "builder/base/atomic_text_file.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxCacheFile = std::size_t{1} << 30;

// Returns the position of the first `#line N "name"` directive at or behind `at`, where the text of
// a file begins.
std::size_t next_file(std::string_view source, std::size_t at) {
  constexpr std::string_view kDirective = "#line ";
  while ((at = source.find(kDirective, at)) != std::string_view::npos) {
    const bool begins = at == 0 || source[at - 1] == '\n';
    const std::size_t number = at + kDirective.size();
    const std::size_t name =
        std::min(source.find_first_not_of("0123456789", number), source.size());
    if (begins && name != number && source.substr(name, 2) == " \"") return at;
    at = number;
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::string> own_text(const std::string &source) {
  const std::size_t first = next_file(source, 0);
  if (first == std::string::npos) return source;
  const std::size_t text = source.find('\n', first);
  // The text of one file, named by a manifest, can be recovered; the text of several files cannot.
  if (first == 0 && text != std::string::npos && next_file(source, text) == std::string::npos) {
    return source.substr(text + 1);
  }
  return Status(Code::requirement,
                "it includes files, and the pack does not hold its original text");
}

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
      return Status(Code::requirement,
                    std::string("the device's ") + runtime::field_name(field) +
                        " is not known, and the application's key is made of it");
    }
    values.push_back(*value);
  }
  return values;
}

std::string md5_hex(std::string_view text) {
  std::array<std::uint8_t, MD5_DIGEST_LENGTH> digest{};
  MD5_CTX context;
  MD5Init(&context);
  MD5Update(&context, reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
  MD5Final(digest.data(), &context);
  return packs::hex(digest.data(), digest.size());
}

std::uint64_t crc64(std::string_view text) {
  constexpr std::uint64_t kPolynomial = 0xc96c5795d7870f42;
  std::uint64_t rest = ~std::uint64_t{0};
  for (const char c : text) {
    rest ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? kPolynomial : 0);
  }
  return ~rest;
}

}  // namespace kiln::builder
