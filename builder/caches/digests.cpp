// SPDX-License-Identifier: Apache-2.0
// MD5 by a library; the CRC is short enough to be here.
#include "builder/caches/digests.hpp"

#include <array>

#include <sys/types.h>

#include <md5.h>

#include "kiln/packs/text.hpp"

namespace kiln::builder {

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
