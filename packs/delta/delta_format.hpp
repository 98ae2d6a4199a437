// SPDX-License-Identifier: Apache-2.0
// The bytes of a delta, as in FORMAT.md, as values.
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
inline constexpr std::uint32_t kMaxDeltaLiteral = 16u << 20;  // limit for a part, and for a copy
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

  std::uint64_t size() const;  // size of the whole part
};

struct DeltaPart {
  std::uint32_t literal = 0;
  std::vector<DeltaEntry> ranges;
  std::vector<DeltaEntry> operations;
  View frame;
};

// Computes the name by which a delta identifies OLD.
Status delta_name(const Pack &pack, Digest *out);

// Appends bytes of a pack to `out`, in pieces, so that they are in memory only once.
Status append_bytes(const Pack &pack, std::uint64_t offset, std::uint64_t size, Bytes *out);

Bytes encode_delta_header(const DeltaHeader &header);
// Decodes the header of a delta with `available` bytes, the first of them at `bytes`. Fails with
// Code::bad_magic: no delta; truncated; bad_superblock: the header's hash does not match;
// newer_version; unknown_feature; over_limit; section_malformed: bytes after the delta's end.
Status decode_delta_header(View bytes, std::uint64_t available, DeltaHeader *out);

Bytes encode_delta_part(const DeltaPart &part);
// Decodes a part's first bytes, and checks them against the limits and the bytes left in the delta.
Status decode_delta_part_head(const std::uint8_t *bytes, std::uint64_t left, DeltaPartHead *out);
// Decodes the whole part, which has head.size() bytes. Checks everything that can be checked
// without OLD: `old_size` bounds the part's places, `new_left` its output. `*out` has a view of
// `bytes`. Fails with Code::section_corrupt: the part's hash does not match; section_malformed,
// out_of_bounds or over_limit.
Status decode_delta_part(View bytes, const DeltaPartHead &head, std::uint64_t old_size,
                         std::uint64_t new_left, DeltaPart *out);

}  // namespace kiln::packs
