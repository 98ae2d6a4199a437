// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes a delta's header and parts, field by field.
#include "packs/delta/delta_format.hpp"

#include <algorithm>
#include <cstring>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::packs {
namespace {

constexpr std::uint8_t kDeltaMagic[8] = {0x89, 'K', 'L', 'D', '\r', '\n', 0x1a, '\n'};
constexpr std::uint32_t kDeltaVersion = 1;
constexpr std::size_t kDeltaHashedSize = kDeltaHeaderSize - 8;

template <typename T>
void put_number(Bytes *out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out->push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

template <typename T>
T number_at(const std::uint8_t *in) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(T{in[i]} << (8 * i));
  return value;
}

Status delta_fault(Code code, std::initializer_list<std::string_view> parts) {
  return Status::error(code, "the delta " + concat(parts));
}

void put_entries(const std::vector<DeltaEntry> &entries, Bytes *out) {
  for (const DeltaEntry &entry : entries) {
    put_number(out, entry.offset);
    put_number(out, entry.size);
    put_number(out, entry.xxh3);
  }
}

std::vector<DeltaEntry> entries_at(const std::uint8_t *in, std::uint32_t count) {
  std::vector<DeltaEntry> entries(count);
  for (DeltaEntry &entry : entries) {
    entry = {number_at<std::uint64_t>(in), number_at<std::uint64_t>(in + 8),
             number_at<std::uint64_t>(in + 16)};
    in += kDeltaEntrySize;
  }
  return entries;
}

bool lies_in(const DeltaEntry &entry, std::uint64_t old_size) {
  return entry.size > 0 && entry.size <= old_size && entry.offset <= old_size - entry.size;
}

Status check_ranges(const std::vector<DeltaEntry> &ranges, std::uint64_t old_size) {
  std::uint64_t left = kMaxDeltaPrefix;
  for (const DeltaEntry &range : ranges) {
    if (!lies_in(range, old_size)) {
      return delta_fault(Code::out_of_bounds, {"takes a prefix from outside of the old pack"});
    }
    if (range.size > left) return delta_fault(Code::over_limit, {"has a prefix of over 64 MiB"});
    left -= range.size;
  }
  return {};
}

Status check_operations(const DeltaPart &part, std::uint64_t old_size, std::uint64_t new_left) {
  std::uint64_t literal = part.literal;
  for (const DeltaEntry &operation : part.operations) {
    const bool copy = operation.offset != kLiteralOffset;
    if (copy && !lies_in(operation, old_size)) {
      return delta_fault(Code::out_of_bounds, {"copies from outside of the old pack"});
    }
    if (operation.size > kMaxDeltaLiteral) {
      return delta_fault(Code::over_limit, {"has an operation of over 16 MiB"});
    }
    if (operation.size > new_left) {
      return delta_fault(Code::over_limit, {"makes more than the new pack's size"});
    }
    new_left -= operation.size;
    if (copy) continue;
    if (operation.size == 0 || operation.xxh3 != 0 || operation.size > literal) {
      return delta_fault(Code::section_malformed, {"has a false literal operation"});
    }
    literal -= operation.size;
  }
  if (literal == 0) return {};
  return delta_fault(Code::section_malformed, {"has literal bytes that it does not use"});
}

}  // namespace

std::uint64_t DeltaPartHead::size() const {
  return kDeltaPartHeadSize + kDeltaEntrySize * (std::uint64_t{ranges} + operations) + frame + 8;
}

Status delta_name(const Pack &pack, Digest *out) {
  Bytes scratch;
  View view;
  if (Status s = pack.bytes_at(0, kSuperblockSize, &scratch, &view); !s.ok()) return s;
  Bytes both(view.data, view.data + view.size);
  const Superblock &superblock = pack.superblock();
  Status s = pack.bytes_at(superblock.root_offset, superblock.root_size, &scratch, &view);
  if (!s.ok()) return s;
  both.insert(both.end(), view.data, view.data + view.size);
  *out = blake2b({both.data(), both.size()});
  return {};
}

Status append_bytes(const Pack &pack, std::uint64_t offset, std::uint64_t size, Bytes *out) {
  constexpr std::uint64_t kPiece = 1u << 20;
  Bytes scratch;
  View view;
  for (std::uint64_t done = 0; done < size; done += view.size) {
    const std::uint64_t count = std::min(kPiece, size - done);
    if (Status s = pack.bytes_at(offset + done, count, &scratch, &view); !s.ok()) return s;
    out->insert(out->end(), view.data, view.data + view.size);
  }
  return {};
}

Bytes encode_delta_header(const DeltaHeader &header) {
  Bytes out(kDeltaMagic, kDeltaMagic + sizeof(kDeltaMagic));
  put_number(&out, kDeltaVersion);
  put_number(&out, std::uint32_t{0});
  put_number(&out, header.old_size);
  out.insert(out.end(), header.old_name.begin(), header.old_name.end());
  put_number(&out, header.new_size);
  out.insert(out.end(), header.new_name.begin(), header.new_name.end());
  put_number(&out, header.delta_size);
  put_number(&out, xxh3(out.data(), out.size()));
  return out;
}

Status decode_delta_header(View bytes, std::uint64_t available, DeltaHeader *out) {
  const std::uint8_t *in = bytes.data;
  const std::size_t magic = std::min(bytes.size, sizeof(kDeltaMagic));
  if (magic == 0 || std::memcmp(in, kDeltaMagic, magic) != 0) {
    return Status::error(Code::bad_magic, "not a Kiln delta: the first bytes are not its magic");
  }
  if (bytes.size < kDeltaHeaderSize) {
    return delta_fault(Code::truncated, {"is cut short: its header needs 112 bytes, there are ",
                                         decimal(available)});
  }
  if (number_at<std::uint64_t>(in + kDeltaHashedSize) != xxh3(in, kDeltaHashedSize)) {
    return delta_fault(Code::bad_superblock,
                       {"is damaged: its header does not have its recorded hash"});
  }
  if (const auto version = number_at<std::uint32_t>(in + 8); version != kDeltaVersion) {
    return delta_fault(Code::newer_version,
                       {"has format version ", decimal(version), ", this reader knows version 1"});
  }
  if (const auto incompat = number_at<std::uint32_t>(in + 12); incompat != 0) {
    return delta_fault(Code::unknown_feature,
                       {"needs features that this reader lacks: bits ", decimal(incompat)});
  }
  DeltaHeader header;
  header.old_size = number_at<std::uint64_t>(in + 16);
  std::copy_n(in + 24, kDigestSize, header.old_name.begin());
  header.new_size = number_at<std::uint64_t>(in + 56);
  std::copy_n(in + 64, kDigestSize, header.new_name.begin());
  header.delta_size = number_at<std::uint64_t>(in + 96);
  if (header.new_size > kMaxPackSize) {
    return delta_fault(Code::over_limit, {"claims a new pack of over 1 TiB"});
  }
  if (header.new_size == 0) return delta_fault(Code::section_malformed, {"makes an empty file"});
  if (header.delta_size > available) {
    return delta_fault(Code::truncated, {"is cut short: it has ", decimal(header.delta_size),
                                         " bytes, there are ", decimal(available)});
  }
  if (header.delta_size < available) {
    return delta_fault(Code::section_malformed,
                       {"is followed by other bytes: it has ", decimal(header.delta_size),
                        ", there are ", decimal(available)});
  }
  *out = header;
  return {};
}

Bytes encode_delta_part(const DeltaPart &part) {
  Bytes out;
  put_number(&out, part.literal);
  put_number(&out, static_cast<std::uint32_t>(part.frame.size));
  put_number(&out, static_cast<std::uint32_t>(part.ranges.size()));
  put_number(&out, static_cast<std::uint32_t>(part.operations.size()));
  put_entries(part.ranges, &out);
  put_entries(part.operations, &out);
  out.insert(out.end(), part.frame.data, part.frame.data + part.frame.size);
  put_number(&out, xxh3(out.data(), out.size()));
  return out;
}

Status decode_delta_part_head(const std::uint8_t *bytes, std::uint64_t left, DeltaPartHead *out) {
  if (left < kDeltaPartHeadSize) {
    return delta_fault(Code::section_malformed, {"ends before the new pack does"});
  }
  *out = {number_at<std::uint32_t>(bytes), number_at<std::uint32_t>(bytes + 4),
          number_at<std::uint32_t>(bytes + 8), number_at<std::uint32_t>(bytes + 12)};
  if (out->literal > kMaxDeltaLiteral || out->frame > kMaxDeltaFrame ||
      out->ranges > kMaxDeltaEntries || out->operations > kMaxDeltaEntries) {
    return delta_fault(Code::over_limit, {"is damaged: a part claims more than the format allows"});
  }
  if (out->size() <= left) return {};
  return delta_fault(Code::section_malformed, {"is damaged: a part is larger than what is left"});
}

Status decode_delta_part(View bytes, const DeltaPartHead &head, std::uint64_t old_size,
                         std::uint64_t new_left, DeltaPart *out) {
  const std::size_t hashed = bytes.size - 8;
  if (number_at<std::uint64_t>(bytes.data + hashed) != xxh3(bytes.data, hashed)) {
    return delta_fault(Code::section_corrupt,
                       {"is damaged: a part does not have its recorded hash"});
  }
  const std::uint8_t *entries = bytes.data + kDeltaPartHeadSize;
  DeltaPart part;
  part.literal = head.literal;
  part.ranges = entries_at(entries, head.ranges);
  entries += kDeltaEntrySize * head.ranges;
  part.operations = entries_at(entries, head.operations);
  part.frame = {entries + kDeltaEntrySize * head.operations, head.frame};
  if (part.operations.empty() || (head.literal == 0) != (head.frame == 0)) {
    return delta_fault(Code::section_malformed, {"has a part without operations or literal bytes"});
  }
  if (Status s = check_ranges(part.ranges, old_size); !s.ok()) return s;
  if (Status s = check_operations(part, old_size, new_left); !s.ok()) return s;
  *out = std::move(part);
  return {};
}

}  // namespace kiln::packs
