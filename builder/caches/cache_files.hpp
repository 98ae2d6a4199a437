// SPDX-License-Identifier: Apache-2.0
// Files of caches, and what all formats ask of a device.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/bytes.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::builder {

inline constexpr std::size_t kMaxCacheFile = std::size_t{1} << 30;

// The whole file. Fails with Code::not_found, Code::io_error, or Code::bad_input for one of more
// than kMaxCacheFile bytes, which no application wrote.
Result<packs::Bytes> read_cache_file(const std::string &path);

// Writes the file as a whole, with the folders that lead to it. Fails with Code::io_error or
// Code::no_space.
Status write_cache_file(const std::string &path, std::string_view bytes);

inline std::string_view text_of(packs::View bytes) {
  return {reinterpret_cast<const char *>(bytes.data), bytes.size};
}

// Little-endian.
void append_u32(std::uint32_t value, std::string *out);

// The names of a folder's entries, sorted; empty if the folder does not exist.
std::vector<std::string> names_in(const std::string &folder);

// Whether the text is `count` lower-case hexadecimal digits.
bool is_hex(std::string_view text, std::size_t count);

// The values of fields, in the order given. Fails with Code::requirement for one that is absent,
// which would be in the application's key.
Result<std::vector<std::string>> device_strings(const runtime::Facts &device,
                                                std::initializer_list<runtime::Field> fields);

}  // namespace kiln::builder
