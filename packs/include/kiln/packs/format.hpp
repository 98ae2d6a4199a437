// SPDX-License-Identifier: Apache-2.0
// Constants of FORMAT.md and the superblock as a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kiln/packs/status.hpp"

namespace kiln::packs {

inline constexpr std::uint32_t kCurrentVersion = 1;  // version that the writer writes
inline constexpr std::uint32_t kOldestReadableVersion = 1;
// Bits of `incompat`. The first bit never gets a meaning.
inline constexpr std::uint32_t kIncompatBases = 2;   // blobs encoded with another blob, their base
inline constexpr std::uint32_t kIncompatFrames = 4;  // the root or sections in zstd frames
inline constexpr std::uint32_t kKnownIncompat = kIncompatBases | kIncompatFrames;
inline constexpr std::uint32_t kIncompatSince = 100;  // 0.1.0, the first Kiln that knows both
inline constexpr std::uint32_t kSignedCompat = 1;     // signatures follow the root
inline constexpr std::size_t kSuperblockSize = 64;
inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kDigestSize = 32;

inline constexpr std::uint64_t kMaxPackSize = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kMaxRootSize = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kMaxSectionSize = std::uint64_t{64} << 20;
// Bytes of a root or a section for each byte of its frame.
inline constexpr std::uint64_t kMaxFrameGrowth = 64;
inline constexpr std::uint64_t kMaxBlobSize = std::uint64_t{1} << 30;
inline constexpr std::uint32_t kMaxTargets = 1u << 20;
inline constexpr std::uint32_t kMaxPrograms = 1u << 16;
inline constexpr std::uint32_t kMaxTunings = 1u << 18;

// The content hash of bytes: their BLAKE2b-256.
using Digest = std::array<std::uint8_t, kDigestSize>;

enum class Codec : std::uint32_t {
  raw = 0,
  zstd = 1,
  based = 2,  // zstd, with another blob, the base, as its dictionary
};
inline constexpr unsigned kMaxBases = 4;  // blobs to decode before another one

// Whether anything is left to compile when a binary is first launched, as a fresh process with
// empty driver caches observed it when the pack was built.
enum class Finality : std::uint8_t {
  not_launched = 0,  // unknown: the target cannot run here, or Kiln cannot launch the variant
  yes = 1,
  no = 2,
};

// The class of a launch by its number of work-items, or of a problem by its number of elements.
enum class SizeClass : std::uint8_t { small = 0, medium = 1, large = 2 };
inline constexpr std::uint8_t kSizeClasses = 3;
inline constexpr std::uint64_t kMediumWorkItems = 65'536;    // small is below
inline constexpr std::uint64_t kLargeWorkItems = 1'048'576;  // medium is below

// The number of arguments of a kernel that nobody but an application has created yet.
inline constexpr std::uint32_t kUnknownArguments = 0xffffffff;

constexpr SizeClass size_class(std::uint64_t work_items) {
  if (work_items < kMediumWorkItems) return SizeClass::small;
  return work_items < kLargeWorkItems ? SizeClass::medium : SizeClass::large;
}

// What a compiler says of a kernel's code; FORMAT.md has the units. The words are those of JSON and
// of manifests.
enum class StatisticName : std::uint32_t {
  registers,
  spills,
  scratch_bytes,
  local_bytes,
  code_bytes,
  instructions,
  waves,
};
inline constexpr const char *kStatisticNames[] = {
    "registers", "spills", "scratch_bytes", "local_bytes", "code_bytes", "instructions", "waves"};

struct Superblock {
  std::uint32_t version = kCurrentVersion;
  std::uint32_t incompat = 0;
  std::uint32_t compat = 0;
  std::uint64_t root_offset = 0;
  std::uint64_t root_size = 0;
  std::uint64_t root_xxh3 = 0;
  std::uint64_t pack_size = 0;
  std::uint32_t needed = 0;  // first Kiln that knows all bits of `incompat`; 0 without any
};

// Writes all 64 bytes, including the hash.
void encode_superblock(const Superblock &superblock, std::uint8_t *out);

// Reads a superblock from the first bytes of a pack with `available` bytes. Checks everything that
// can be checked without the root, in the order of FORMAT.md.
Status decode_superblock(const std::uint8_t *bytes, std::uint64_t available, Superblock *out);

// The beginning of a binary's proof if the results were compared with the program built from
// source, not with the manifest's reference.
inline constexpr std::string_view kProofBySource = "the program built from source, ";

// Returns whether a text of a binary's provenance is a proof; with `by_reference`, one by the
// reference.
inline bool is_proof(std::string_view text, bool by_reference = false) {
  const bool by_source = text.substr(0, kProofBySource.size()) == kProofBySource;
  return !text.empty() && !(by_reference && by_source);
}

}  // namespace kiln::packs
