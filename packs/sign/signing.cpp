// SPDX-License-Identifier: Apache-2.0
// Reads signatures of statements, and writes them into packs.
#include "kiln/packs/signing.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/layout.hpp"
#include "kiln/packs/output_file.hpp"

namespace kiln::packs {
namespace {

constexpr std::size_t kCopied = 1u << 20;  // bytes in memory at once

// Reads the number in the statement's last line.
Status read_revision(std::string_view text, std::uint64_t *out) {
  constexpr std::string_view kLine = "\nrevision ";
  const std::size_t place = text.rfind(kLine);
  std::string_view digits =
      place == std::string_view::npos ? std::string_view() : text.substr(place + kLine.size());
  if (!digits.empty()) digits.remove_suffix(1);
  std::uint64_t revision = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), revision);
  if (revision == 0 || decimal(revision) != digits) {
    return Status::error(Code::signature_corrupt,
                         "not a detached signature of a pack: the statement does not end with a "
                         "revision");
  }
  *out = revision;
  return {};
}

struct BlakeNames final : NameCheck {
  bool accepts(View bytes, const Digest &name) const override { return blake2b(bytes) == name; }
};

// Copies everything up to the root's end, with another superblock.
Status copy_unsigned(const Pack &pack, const Superblock &superblock, OutputFile *file) {
  std::uint8_t head[kSuperblockSize];
  encode_superblock(superblock, head);
  if (Status s = file->append({head, sizeof(head)}); !s.ok()) return s;
  const std::uint64_t end = superblock.root_offset;
  Bytes scratch;
  for (std::uint64_t at = kSuperblockSize; at < end; at += kCopied) {
    View part;
    Status s = pack.bytes_at(at, std::min<std::uint64_t>(kCopied, end - at), &scratch, &part);
    if (!s.ok()) return s;
    if (s = file->append(part); !s.ok()) return s;
  }
  return file->append(pack.root_bytes());  // the signed root, even if the file changed
}

}  // namespace

Digest root_name(const Pack &pack) { return blake2b(pack.root_bytes()); }

Status add_signature(const Signature &signature, std::vector<Signature> *signatures) {
  const auto own = std::find_if(signatures->begin(), signatures->end(),
                                [&](const Signature &known) { return known.key == signature.key; });
  if (own == signatures->end()) {
    signatures->push_back(signature);
    return {};
  }
  if (own->revision > signature.revision) {
    return Status::error(
        Code::untrusted,
        {"the key ", key_text(own->key), " has signed revision ", decimal(own->revision),
         " of this pack, and a revision only grows: not ", decimal(signature.revision)});
  }
  *own = signature;
  return {};
}

Status check_names(const Pack &pack) {
  if (Status s = check_layout(pack); !s.ok()) return s;
  Layout layout;
  if (Status s = read_layout(pack, &layout); !s.ok()) return s;
  std::set<std::tuple<std::uint64_t, std::uint64_t, Codec, Digest>> known;
  Bytes scratch;
  const auto check = [&](const std::vector<BlobRef> &blobs) {
    for (const BlobRef blob : blobs) {
      if (!known.emplace(blob.offset(), blob.stored_size(), blob.codec(), blob.name()).second) {
        continue;
      }
      View raw;
      if (Status s = pack.read_blob(blob, &scratch, &raw); !s.ok()) return s;
      if (blake2b(raw) != blob.name()) {
        return Status::error(Code::blob_corrupt,
                             "blob: the bytes do not match the BLAKE2b hash that names them");
      }
    }
    return Status();
  };
  if (Status s = check(layout.blobs); !s.ok()) return s;
  for (const Layout::Section &section : layout.sections) {
    if (Status s = check(section.blobs); !s.ok()) return s;
  }
  return {};
}

Status open_trusted(const Pack &pack, const Demand &demand, std::shared_ptr<const Pack> *out) {
  std::shared_ptr<const Pack> again;
  if (Status s = pack.open_again(std::make_shared<BlakeNames>(), &again); !s.ok()) return s;
  std::vector<Signature> signatures;
  if (Status s = read_signatures(*again, &signatures); !s.ok()) return s;
  std::vector<Signature> found;
  Status s = find_trusted(again->superblock(), root_name(*again), signatures, demand, &found);
  if (s.ok()) *out = std::move(again);
  return s;
}

Status write_signed(const Pack &pack, const std::vector<Signature> &signatures,
                    const std::string &path) {
  if (signatures.size() > kMaxSignatures) {
    return Status::error(Code::over_limit, "a pack has at most 64 signatures");
  }
  Superblock superblock = pack.superblock();
  superblock.compat &= ~kSignedCompat;
  superblock.pack_size = superblock.root_offset + superblock.root_size;
  Bytes block;
  if (!signatures.empty()) {
    block = encode_signatures(signatures);
    const std::uint64_t start = (superblock.pack_size + kAlignment - 1) / kAlignment * kAlignment;
    superblock.compat |= kSignedCompat;
    superblock.pack_size = start + block.size();
  }
  OutputFile file;
  if (Status s = file.open(path); !s.ok()) return s;
  if (Status s = copy_unsigned(pack, superblock, &file); !s.ok()) return s;
  if (!block.empty()) {
    if (Status s = file.align(); !s.ok()) return s;
    if (Status s = file.append({block.data(), block.size()}); !s.ok()) return s;
  }
  return file.commit();
}

Status read_detached(const Pack &pack, const Detached &texts, Signature *out) {
  Signature signature;
  if (Status s = parse_minisig(texts.signature, &signature); !s.ok()) return s;
  if (Status s = read_revision(texts.statement, &signature.revision); !s.ok()) return s;
  if (statement(pack.superblock(), root_name(pack), signature.revision) != texts.statement) {
    return Status::error(Code::untrusted, "the statement is of another pack");
  }
  *out = signature;
  return {};
}

}  // namespace kiln::packs
