// SPDX-License-Identifier: Apache-2.0
// Keys to sign packs with, in the text forms of minisign.
#pragma once

#include <string>
#include <string_view>

#include "kiln/packs/signatures.hpp"

namespace kiln::packs {

struct PublicKey {
  KeyId id{};
  std::array<std::uint8_t, 32> key{};
};

// Reads the file that minisign and `kiln keygen` write, or its second line alone, which is what
// minisign -P takes. Code::bad_argument.
Status parse_public_key(std::string_view text, PublicKey *out);
// The file, and its second line without the newline.
std::string public_key_file(const PublicKey &key);
std::string public_key_line(const PublicKey &key);

// A text whose bytes are overwritten when it goes. Does not grow, so that no copy stays behind.
class SecretText {
 public:
  explicit SecretText(std::size_t size) : bytes_(size) {}
  SecretText(const SecretText &) = delete;
  SecretText &operator=(const SecretText &) = delete;
  ~SecretText();

  char *data() { return reinterpret_cast<char *>(bytes_.data()); }
  std::size_t size() const { return bytes_.size(); }
  std::string_view view() const {
    return {reinterpret_cast<const char *>(bytes_.data()), bytes_.size()};
  }
  View bytes() const { return {bytes_.data(), bytes_.size()}; }

 private:
  Bytes bytes_;
};

// A key that signs; overwritten when it goes.
class SecretKey {
 public:
  SecretKey() = default;
  SecretKey(const SecretKey &) = delete;
  SecretKey &operator=(const SecretKey &) = delete;
  ~SecretKey();

  const PublicKey &public_key() const { return public_; }
  // 64 bytes: the Ed25519 signature of `message` as it is.
  void sign(View message, std::uint8_t *out) const;

 private:
  friend Status make_secret_key(SecretKey *out);
  friend Status parse_secret_key(std::string_view text, std::string_view password, SecretKey *out);
  friend std::unique_ptr<SecretText> secret_key_file(const SecretKey &key);

  Status take(const std::uint8_t *id_and_key);

  PublicKey public_;
  std::array<std::uint8_t, 64> secret_{};
};

Status make_secret_key(SecretKey *out);
// Whether the file of a key says that a password is needed.
bool is_encrypted(std::string_view text);
// Reads the file that `kiln keygen` and minisign write. `password` is for an encrypted one.
// Code::bad_argument.
Status parse_secret_key(std::string_view text, std::string_view password, SecretKey *out);
// The file as `minisign -G -W` writes it, without a password.
std::unique_ptr<SecretText> secret_key_file(const SecretKey &key);

// BLAKE2b-512, of which minisign's prehashed signatures are.
std::array<std::uint8_t, 64> blake2b_512(View bytes);
// Ed25519 of the message as it is.
bool fits(const PublicKey &key, View message, const std::uint8_t *signature);

}  // namespace kiln::packs
