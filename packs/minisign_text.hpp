// SPDX-License-Identifier: Apache-2.0
// What minisign's keys and signatures are written with: lines and base64.
#pragma once

#include <algorithm>
#include <string_view>

#include <sodium.h>

#include "kiln/packs/bytes.hpp"

namespace kiln::packs {

constexpr std::string_view kUntrustedComment = "untrusted comment: ";

// Takes the first line off `text`; without its end, which may be CR LF.
inline std::string_view take_line(std::string_view *text) {
  const std::size_t end = std::min(text->find('\n'), text->size());
  std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// Whether the line is exactly `size` bytes, which are at `out` then.
inline bool from_base64(std::string_view line, std::uint8_t *out, std::size_t size) {
  std::size_t got = 0;
  return sodium_base642bin(out, size, line.data(), line.size(), nullptr, &got, nullptr,
                           sodium_base64_VARIANT_ORIGINAL) == 0 &&
         got == size;
}

// With a zero behind it, for which there must be room, too.
inline void to_base64(View bytes, char *out) {
  sodium_bin2base64(out, sodium_base64_encoded_len(bytes.size, sodium_base64_VARIANT_ORIGINAL),
                    bytes.data, bytes.size, sodium_base64_VARIANT_ORIGINAL);
}

}  // namespace kiln::packs
