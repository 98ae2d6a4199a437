// SPDX-License-Identifier: Apache-2.0
// SHA-256 by libsodium.
#include "builder/publish/sha256.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::builder {
namespace {

std::string digest_text(const std::array<std::uint8_t, crypto_hash_sha256_BYTES> &hash) {
  return "sha256:" + packs::hex(hash.data(), hash.size());
}

}  // namespace

FileDigest sha256_of(std::string_view bytes) {
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const std::uint8_t *>(bytes.data()),
                     bytes.size());
  return {digest_text(hash), bytes.size()};
}

Result<FileDigest> sha256_of_file(const std::string &path, std::uint64_t most) {
  const auto fault = [&](int error) {
    return Status(error == ENOENT ? Code::not_found : Code::io_error,
                  path + ": " + std::strerror(error));
  };
  const packs::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!file || fstat(file.get(), &facts) != 0) return fault(errno);
  if (!S_ISREG(facts.st_mode)) return Status(Code::io_error, path + ": not a regular file");
  const std::uint64_t size = static_cast<std::uint64_t>(facts.st_size);
  if (size > most) return FileDigest{"", size};
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  std::vector<std::uint8_t> piece(1u << 20);
  FileDigest out;
  for (std::size_t got = piece.size(); got == piece.size() && out.size <= most; out.size += got) {
    if (const int error = packs::read_all(file.get(), out.size, piece.data(), &got); error != 0) {
      return fault(error);
    }
    crypto_hash_sha256_update(&state, piece.data(), got);
  }
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256_final(&state, hash.data());
  out.digest = digest_text(hash);
  return out;
}

}  // namespace kiln::builder
