// SPDX-License-Identifier: Apache-2.0
// The bytes of a delta, as FORMAT.md has them, as values.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kiln/packs/format.hpp"
#include "kiln/packs/pack.hpp"

namespace kiln::packs {

inline constexpr std::size_t kDeltaHeaderSize = 112;
inline constexpr std::size_t kDeltaPartHeadSize = 16;
inline constexpr std::size_t kDeltaEntrySize = 24;
inline constexpr std::uint32_t kMaxDeltaLiteral = 16u << 20;  // of a part; of a copy as well
inline constexpr std::uint32_t kMaxDeltaFrame = kMaxDeltaLiteral + (128u << 10);
inline constexpr std::uint64_t kMaxDeltaPrefix = std::uint64_t{64} << 20;
inline constexpr std::uint32_t kMaxDeltaEntries = 1u << 16;
inline constexpr std::uint64_t kLiteralOffset = std::numeric_limits<std::uint64_t>::max();

struct DeltaHeader {
  std::uint64_t old_size = 0;
  Digest old_name{};
  std::uint64_t new_size = 0;
  Digest new_name{};
  std::uint64_t delta_size = 0;
};

// A prefix range, or an operation.
struct DeltaEntry {
  std::uint64_t offset = 0;  // in OLD; kLiteralOffset: literal bytes
  std::uint64_t size = 0;
  std::uint64_t xxh3 = 0;
};

struct DeltaPartHead {
  std::uint32_t literal = 0;
  std::uint32_t frame = 0;
  std::uint32_t ranges = 0;
  std::uint32_t operations = 0;

  std::uint64_t size() const;  // of the whole part
};

struct DeltaPart {
  std::uint32_t literal = 0;
  std::vector<DeltaEntry> ranges;
  std::vector<DeltaEntry> operations;
  View frame;
};

// What a delta knows its OLD by.
Status delta_name(const Pack &pack, Digest *out);

// Adds bytes of a pack to `out`, in pieces, so that they are in memory once.
Status append_bytes(const Pack &pack, std::uint64_t offset, std::uint64_t size, Bytes *out);

Bytes encode_delta_header(const DeltaHeader &header);
// Of a file of which `available` bytes can be had, the first of them at `bytes`. Code::bad_magic:
// no delta; truncated; bad_superblock: the header's hash does not agree; newer_version;
// unknown_feature; over_limit; section_malformed: bytes after its end.
Status decode_delta_header(View bytes, std::uint64_t available, DeltaHeader *out);

Bytes encode_delta_part(const DeltaPart &part);
// Its first bytes, against its limits and the bytes that are left of the delta.
Status decode_delta_part_head(const std::uint8_t *bytes, std::uint64_t left, DeltaPartHead *out);
// The whole part, which has head.size() bytes. Checks everything that can be checked without OLD:
// `old_size` bounds its places, `new_left` what it may make. `*out` has a view of `bytes`.
// Code::section_corrupt: its hash does not agree; section_malformed, out_of_bounds, over_limit.
Status decode_delta_part(View bytes, const DeltaPartHead &head, std::uint64_t old_size,
                         std::uint64_t new_left, DeltaPart *out);

}  // namespace kiln::packs
