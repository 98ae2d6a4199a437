// Constants of FORMAT.md and the superblock as a value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/packs/status.hpp"

namespace kiln::packs {

inline constexpr std::uint32_t kCurrentVersion = 1;  // what the writer writes
inline constexpr std::uint32_t kOldestReadableVersion = 1;
inline constexpr std::uint32_t kKnownIncompat = 0;
inline constexpr std::size_t kSuperblockSize = 64;
inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kNameSize = 32;  // BLAKE2b-256

inline constexpr std::uint64_t kMaxPackSize = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kMaxRootSize = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kMaxSectionSize = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMaxBlobSize = std::uint64_t{1} << 30;
inline constexpr std::uint32_t kMaxTargets = 1u << 20;
inline constexpr std::uint32_t kMaxPrograms = 1u << 16;

enum class Codec : std::uint32_t { raw = 0, zstd = 1 };

struct Superblock {
  std::uint32_t version = kCurrentVersion;
  std::uint32_t incompat = 0;
  std::uint32_t compat = 0;
  std::uint64_t root_offset = 0;
  std::uint64_t root_size = 0;
  std::uint64_t root_xxh3 = 0;
  std::uint64_t pack_size = 0;
};

// Writes all 64 bytes, the hash included.
void encode_superblock(const Superblock &superblock, std::uint8_t *out);

// Reads a superblock from the first bytes of a pack of which `available` bytes can be had.
// Checks everything that can be checked without the root, in the order of FORMAT.md.
Status decode_superblock(const std::uint8_t *bytes, std::uint64_t available, Superblock *out);

}  // namespace kiln::packs
