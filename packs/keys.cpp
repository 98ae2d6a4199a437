// SPDX-License-Identifier: Apache-2.0
// Keys by libsodium. minisign's src/minisign.h has the layout of its files.
#include "kiln/packs/keys.hpp"

#include <cstring>

#include <sodium.h>

#include "packs/minisign_text.hpp"

namespace kiln::packs {
namespace {

constexpr std::size_t kPublicSize = 2 + 8 + 32;
// Algorithm, key derivation, checksum algorithm, salt, its two limits; then what a password
// encrypts: id, key, checksum.
constexpr std::size_t kSaltAt = 6;
constexpr std::size_t kLimitsAt = 38;
constexpr std::size_t kHiddenAt = 54;
constexpr std::size_t kHiddenSize = 8 + 64 + 32;
constexpr std::size_t kSecretSize = kHiddenAt + kHiddenSize;

Status key_fault(const char *what, const char *why) {
  return Status::error(Code::bad_argument, {"not a ", what, " key of minisign's form: ", why});
}

std::uint64_t limit_at(const std::uint8_t *bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  return value;
}

// The line with the key: the second one behind a comment, else the first.
std::string_view key_line(std::string_view text) {
  const std::string_view first = take_line(&text);
  const bool titled = first.substr(0, kUntrustedComment.size()) == kUntrustedComment;
  return titled ? take_line(&text) : first;
}

// BLAKE2b-256 over the algorithm, the id and the key.
Digest checksum_of(const std::uint8_t *secret) {
  Digest sum{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, sum.size());
  crypto_generichash_update(&state, secret, 2);
  crypto_generichash_update(&state, secret + kHiddenAt, 8 + 64);
  crypto_generichash_final(&state, sum.data(), sum.size());
  return sum;
}

Status decrypt(std::string_view password, std::uint8_t *secret) {
  const std::uint64_t operations = limit_at(secret + kLimitsAt);
  const std::uint64_t memory = limit_at(secret + kLimitsAt + 8);
  if (operations > crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_SENSITIVE ||
      memory > crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_SENSITIVE) {
    return key_fault("secret", "its password would take more than minisign's limits");
  }
  SecretText stream(kHiddenSize);
  auto *const bytes = reinterpret_cast<std::uint8_t *>(stream.data());
  if (crypto_pwhash_scryptsalsa208sha256(bytes, kHiddenSize, password.data(), password.size(),
                                         secret + kSaltAt, operations,
                                         static_cast<std::size_t>(memory)) != 0) {
    return Status::error(Code::failed, "no memory to compute the secret key's password");
  }
  for (std::size_t i = 0; i < kHiddenSize; ++i) {
    secret[kHiddenAt + i] = static_cast<std::uint8_t>(secret[kHiddenAt + i] ^ bytes[i]);
  }
  return {};
}

bool has_password(const std::uint8_t *secret) { return std::memcmp(secret + 2, "Sc", 2) == 0; }

// What is the same in every secret key, before its password counts.
Status read_secret(std::string_view text, std::uint8_t *secret) {
  if (!from_base64(key_line(text), secret, kSecretSize)) {
    return key_fault("secret", "its line is not 158 bytes in base64");
  }
  if (std::memcmp(secret, "Ed", 2) != 0 || std::memcmp(secret + 4, "B2", 2) != 0) {
    return key_fault("secret", "another algorithm");
  }
  if (has_password(secret) || (secret[2] == 0 && secret[3] == 0)) return {};
  return key_fault("secret", "its password is derived by another algorithm");
}

}  // namespace

SecretText::~SecretText() { sodium_memzero(bytes_.data(), bytes_.size()); }
SecretKey::~SecretKey() { sodium_memzero(secret_.data(), secret_.size()); }

Status parse_public_key(std::string_view text, PublicKey *out) {
  std::uint8_t bytes[kPublicSize];
  if (!from_base64(key_line(text), bytes, sizeof(bytes))) {
    return key_fault("public", "its line is not 42 bytes in base64");
  }
  if (std::memcmp(bytes, "Ed", 2) != 0) return key_fault("public", "another algorithm");
  std::memcpy(out->id.data(), bytes + 2, out->id.size());
  std::memcpy(out->key.data(), bytes + 10, out->key.size());
  return {};
}

std::string public_key_line(const PublicKey &key) {
  std::uint8_t bytes[kPublicSize] = {'E', 'd'};
  std::memcpy(bytes + 2, key.id.data(), key.id.size());
  std::memcpy(bytes + 10, key.key.data(), key.key.size());
  std::string line(sodium_base64_ENCODED_LEN(kPublicSize, sodium_base64_VARIANT_ORIGINAL), '\0');
  to_base64({bytes, sizeof(bytes)}, line.data());
  line.pop_back();  // the zero
  return line;
}

std::string public_key_file(const PublicKey &key) {
  return concat({kUntrustedComment, "minisign public key ", key_text(key.id), "\n",
                 public_key_line(key), "\n"});
}

void SecretKey::sign(View message, std::uint8_t *out) const {
  crypto_sign_detached(out, nullptr, message.data, message.size, secret_.data());
}

// Its second half is the public key: signing with one that does not belong to the first half would
// give the first away.
Status SecretKey::take(const std::uint8_t *id_and_key) {
  std::memcpy(public_.id.data(), id_and_key, public_.id.size());
  SecretText own(secret_.size());
  auto *const pair = reinterpret_cast<std::uint8_t *>(own.data());
  crypto_sign_seed_keypair(public_.key.data(), pair, id_and_key + 8);
  if (sodium_memcmp(pair, id_and_key + 8, secret_.size()) != 0) {
    return key_fault("secret", "its halves do not belong together");
  }
  std::memcpy(secret_.data(), pair, secret_.size());
  return {};
}

Status make_secret_key(SecretKey *out) {
  if (sodium_init() < 0) return Status::error(Code::failed, "the system gives no random bytes");
  randombytes_buf(out->public_.id.data(), out->public_.id.size());
  crypto_sign_keypair(out->public_.key.data(), out->secret_.data());
  return {};
}

bool is_encrypted(std::string_view text) {
  SecretText secret(kSecretSize);
  auto *const bytes = reinterpret_cast<std::uint8_t *>(secret.data());
  return read_secret(text, bytes).ok() && has_password(bytes);
}

Status parse_secret_key(std::string_view text, std::string_view password, SecretKey *out) {
  SecretText decoded(kSecretSize);
  auto *const secret = reinterpret_cast<std::uint8_t *>(decoded.data());
  if (Status s = read_secret(text, secret); !s.ok()) return s;
  const bool encrypted = has_password(secret);
  if (encrypted) {
    if (Status s = decrypt(password, secret); !s.ok()) return s;
  }
  const Digest sum = checksum_of(secret);
  const std::uint8_t *const recorded = secret + kHiddenAt + 8 + 64;
  const bool agrees = std::memcmp(recorded, sum.data(), sum.size()) == 0;
  if (encrypted && !agrees) {
    return Status::error(Code::bad_argument, "the password is wrong for this secret key");
  }
  // minisign -W leaves the checksum out.
  if (!agrees && sodium_is_zero(recorded, sum.size()) == 0) {
    return key_fault("secret", "it does not have its checksum");
  }
  return out->take(secret + kHiddenAt);
}

std::unique_ptr<SecretText> secret_key_file(const SecretKey &key) {
  constexpr std::string_view kTitle = "untrusted comment: minisign secret key without a password\n";
  constexpr std::size_t kLine =
      sodium_base64_ENCODED_LEN(kSecretSize, sodium_base64_VARIANT_ORIGINAL);
  SecretText raw(kSecretSize);
  auto *const secret = reinterpret_cast<std::uint8_t *>(raw.data());
  std::memcpy(secret, "Ed\0\0B2", 6);
  std::memcpy(secret + kHiddenAt, key.public_.id.data(), key.public_.id.size());
  std::memcpy(secret + kHiddenAt + 8, key.secret_.data(), key.secret_.size());
  const Digest sum = checksum_of(secret);
  std::memcpy(secret + kHiddenAt + 8 + 64, sum.data(), sum.size());
  auto file = std::make_unique<SecretText>(kTitle.size() + kLine);
  std::memcpy(file->data(), kTitle.data(), kTitle.size());
  to_base64(raw.bytes(), file->data() + kTitle.size());
  file->data()[file->size() - 1] = '\n';  // where the zero was
  return file;
}

std::array<std::uint8_t, 64> blake2b_512(View bytes) {
  std::array<std::uint8_t, 64> hash{};
  crypto_generichash(hash.data(), hash.size(), bytes.data, bytes.size, nullptr, 0);
  return hash;
}

bool fits(const PublicKey &key, View message, const std::uint8_t *signature) {
  return crypto_sign_verify_detached(signature, message.data, message.size, key.key.data()) == 0;
}

}  // namespace kiln::packs
