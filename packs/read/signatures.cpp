// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes the block of signatures field by field.
#include "kiln/packs/signatures.hpp"

#include <algorithm>
#include <cstring>

#include "kiln/packs/bytes.hpp"

namespace kiln::packs {
namespace {

constexpr std::uint8_t kSignatureMagic[8] = {0x89, 'K', 'L', 'S', '\r', '\n', 0x1a, '\n'};

void put_number(std::uint64_t value, std::size_t bytes, Bytes *out) {
  for (std::size_t i = 0; i < bytes; ++i) {
    out->push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

std::uint64_t number_at(const std::uint8_t *in, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{in[i]} << (8 * i);
  return value;
}

Status signature_fault(std::string_view what) {
  return Status::error(Code::signature_corrupt, {"signatures: ", what});
}

Status check_header(View block, std::size_t *count) {
  if (block.size < kSignatureHeaderSize) return signature_fault("the block is truncated");
  if (std::memcmp(block.data, kSignatureMagic, sizeof(kSignatureMagic)) != 0) {
    return signature_fault("the first bytes are not their magic");
  }
  if (number_at(block.data + 12, 4) != 0) return signature_fault("a reserved field is not zero");
  const std::uint64_t claimed = number_at(block.data + 8, 4);
  if (claimed == 0 || claimed > kMaxSignatures) {
    return signature_fault(concat({"there are 1 to 64, not ", decimal(claimed)}));
  }
  *count = static_cast<std::size_t>(claimed);
  const std::size_t needed = kSignatureHeaderSize + *count * kSignatureEntrySize + 8;
  if (block.size < needed) return signature_fault("the block is truncated");
  if (block.size > needed) return signature_fault("there are bytes behind the block");
  const std::size_t hashed = block.size - 8;
  if (number_at(block.data + hashed, 8) == xxh3(block.data, hashed)) return {};
  return signature_fault("the block does not have its recorded hash");
}

Signature decode_signature(const std::uint8_t *entry) {
  Signature signature;
  std::memcpy(signature.key.data(), entry, signature.key.size());
  signature.revision = number_at(entry + 8, 8);
  std::memcpy(signature.bytes.data(), entry + 16, signature.bytes.size());
  return signature;
}

}  // namespace

std::string key_text(const KeyId &id) {
  std::string text = hex64(number_at(id.data(), id.size()));
  for (char &c : text) c = c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string statement(const Superblock &superblock, const Digest &root, std::uint64_t revision) {
  return concat({"kiln pack 1\nversion ", decimal(superblock.version), "\nincompat ",
                 decimal(superblock.incompat), "\nroot ", hex(root.data(), root.size()),
                 "\nrevision ", decimal(revision), "\n"});
}

Bytes encode_signatures(std::vector<Signature> signatures) {
  std::sort(signatures.begin(), signatures.end(),
            [](const Signature &a, const Signature &b) { return a.key < b.key; });
  Bytes block(kSignatureMagic, kSignatureMagic + sizeof(kSignatureMagic));
  put_number(signatures.size(), 4, &block);
  put_number(0, 4, &block);
  for (const Signature &signature : signatures) {
    block.insert(block.end(), signature.key.begin(), signature.key.end());
    put_number(signature.revision, 8, &block);
    block.insert(block.end(), signature.bytes.begin(), signature.bytes.end());
  }
  put_number(xxh3(block.data(), block.size()), 8, &block);
  return block;
}

Status decode_signatures(View behind_root, std::size_t past, std::vector<Signature> *out) {
  const std::size_t padding = (kAlignment - past % kAlignment) % kAlignment;
  if (behind_root.size < padding) return signature_fault("the block is truncated");
  const std::uint8_t *const start = behind_root.data + padding;
  for (const std::uint8_t *at = behind_root.data; at != start; ++at) {
    if (*at != 0) return signature_fault("the padding before them is not zero");
  }
  std::size_t count = 0;
  if (Status s = check_header({start, behind_root.size - padding}, &count); !s.ok()) return s;
  std::vector<Signature> signatures;
  for (std::size_t i = 0; i < count; ++i) {
    const Signature next = decode_signature(start + kSignatureHeaderSize + i * kSignatureEntrySize);
    if (next.revision == 0) return signature_fault("a revision is 0");
    if (i != 0 && next.key == signatures.back().key) {
      return signature_fault(concat({"two are of the key ", key_text(next.key)}));
    }
    if (i != 0 && next.key < signatures.back().key) {
      return signature_fault("they are not in the order of their keys");
    }
    signatures.push_back(next);
  }
  *out = std::move(signatures);
  return {};
}

std::uint64_t size_behind_root(const Superblock &superblock) {
  if ((superblock.compat & kSignedCompat) == 0) return 0;
  return superblock.pack_size - superblock.root_offset - superblock.root_size;
}

std::uint64_t signature_block_size(const Superblock &superblock) {
  const std::uint64_t size = size_behind_root(superblock);
  const std::uint64_t past = (superblock.pack_size - size) % kAlignment;
  return size - std::min(size, (kAlignment - past) % kAlignment);
}

Status read_signatures(const Pack &pack, std::vector<Signature> *out) {
  out->clear();
  const Superblock &superblock = pack.superblock();
  if ((superblock.compat & kSignedCompat) == 0) return {};
  const std::uint64_t size = size_behind_root(superblock);
  if (size > kAlignment + kMaxSignatureBlock) {
    return signature_fault("there are bytes behind the block");
  }
  Bytes scratch;
  View bytes;
  const std::uint64_t end = superblock.root_offset + superblock.root_size;
  if (Status s = pack.bytes_at(end, size, &scratch, &bytes); !s.ok()) return s;
  return decode_signatures(bytes, static_cast<std::size_t>(end % kAlignment), out);
}

}  // namespace kiln::packs
