// SPDX-License-Identifier: Apache-2.0
// Checks signatures against the known keys, by libsodium.
#include "kiln/packs/trust.hpp"

#include <algorithm>
#include <cstring>

#include <sodium.h>

namespace kiln::packs {
namespace {

constexpr std::string_view kUntrustedComment = "untrusted comment: ";
constexpr std::string_view kTrustedComment = "trusted comment: ";
constexpr std::size_t kPublicSize = 2 + 8 + 32;

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// Takes the first line off `text`, without its line end, which may be CR LF.
std::string_view take_line(std::string_view *text) {
  const std::size_t end = std::min(text->find('\n'), text->size());
  std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// Decodes the line to `out`; returns false unless it is exactly `size` bytes.
bool from_base64(std::string_view line, std::uint8_t *out, std::size_t size) {
  std::size_t got = 0;
  return sodium_base642bin(out, size, line.data(), line.size(), nullptr, &got, nullptr,
                           sodium_base64_VARIANT_ORIGINAL) == 0 &&
         got == size;
}

Status key_fault(std::string_view why) {
  return Status::error(Code::bad_argument, {"not a public key of minisign's form: ", why});
}

Status minisig_fault(std::string_view why) {
  return Status::error(Code::signature_corrupt, {"not a detached signature of a pack: ", why});
}

Status untrusted(std::initializer_list<std::string_view> parts) {
  return Status::error(Code::untrusted, parts);
}

std::string key_list(const std::vector<Signature> &signatures) {
  std::string text;
  for (const Signature &signature : signatures) {
    text += concat({text.empty() ? "" : ", ", key_text(signature.key)});
  }
  return text;
}

}  // namespace

Status parse_public_key(std::string_view text, PublicKey *out) {
  std::string_view line = take_line(&text);
  if (begins_with(line, kUntrustedComment)) line = take_line(&text);
  std::uint8_t bytes[kPublicSize];
  if (!from_base64(line, bytes, sizeof(bytes))) {
    return key_fault("its line is not 42 bytes in base64");
  }
  if (std::memcmp(bytes, "Ed", 2) != 0) return key_fault("another algorithm");
  std::memcpy(out->id.data(), bytes + 2, out->id.size());
  std::memcpy(out->key.data(), bytes + 10, out->key.size());
  return {};
}

Status parse_minisig(std::string_view text, Signature *out) {
  std::uint8_t bytes[2 + 8 + 64];
  std::uint8_t whole[64];  // signature of the trusted comment, which is not checked
  const bool titled = begins_with(take_line(&text), kUntrustedComment);
  if (!titled || !from_base64(take_line(&text), bytes, sizeof(bytes)) ||
      !begins_with(take_line(&text), kTrustedComment) ||
      !from_base64(take_line(&text), whole, sizeof(whole))) {
    return minisig_fault("its four lines are not minisign's");
  }
  if (std::memcmp(bytes, "ED", 2) != 0) return minisig_fault("it is not of the prehashed form");
  std::memcpy(out->key.data(), bytes + 2, out->key.size());
  std::memcpy(out->bytes.data(), bytes + 10, out->bytes.size());
  return {};
}

bool signs(const PublicKey &key, std::string_view text, const Signature &signature) {
  if (key.id != signature.key) return false;
  std::uint8_t hash[64];  // BLAKE2b-512, which minisign's prehashed signatures sign
  crypto_generichash(hash, sizeof(hash), reinterpret_cast<const std::uint8_t *>(text.data()),
                     text.size(), nullptr, 0);
  return crypto_sign_verify_detached(signature.bytes.data(), hash, sizeof(hash), key.key.data()) ==
         0;
}

bool fits(const PublicKey &key, const Superblock &superblock, const Digest &root,
          const Signature &signature) {
  return signs(key, statement(superblock, root, signature.revision), signature);
}

Status find_trusted(const Superblock &superblock, const Digest &root,
                    const std::vector<Signature> &signatures, const Demand &demand,
                    std::vector<Signature> *out) {
  if (signatures.empty()) return untrusted({"the pack is not signed"});
  std::vector<Signature> valid;  // at most one of each key: a pack's signatures have different ids
  const Signature *misfit = nullptr;
  for (const Signature &signature : signatures) {
    const auto by = [&](const PublicKey &key) { return key.id == signature.key; };
    const auto fitting = [&](const PublicKey &key) {
      return fits(key, superblock, root, signature);
    };
    if (std::any_of(demand.keys.begin(), demand.keys.end(), fitting)) {
      valid.push_back(signature);
    } else if (std::any_of(demand.keys.begin(), demand.keys.end(), by)) {
      misfit = &signature;
    }
  }
  std::stable_sort(valid.begin(), valid.end(),
                   [](const Signature &a, const Signature &b) { return a.revision > b.revision; });
  const std::uint64_t threshold = std::max<std::uint64_t>(demand.threshold, 1);
  if (valid.size() >= threshold) {
    const auto needed = static_cast<std::size_t>(threshold);
    const std::uint64_t revision = valid[needed - 1].revision;
    if (revision < demand.revision) {
      return untrusted({"the pack is of revision ", decimal(revision), ", older than the required ",
                        decimal(demand.revision)});
    }
    valid.resize(needed);
    *out = std::move(valid);
    return {};
  }
  if (misfit != nullptr) {
    return untrusted({"the signature of the key ", key_text(misfit->key),
                      " does not fit: the pack is not what was signed, or another key signed it"});
  }
  if (!valid.empty()) {
    return untrusted({"the pack is signed by ", decimal(valid.size()), " of the ",
                      decimal(threshold), " required keys: ", key_list(valid)});
  }
  return untrusted({"the pack is signed by other keys only: ", key_list(signatures)});
}

}  // namespace kiln::packs
