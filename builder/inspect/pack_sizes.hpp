// SPDX-License-Identifier: Apache-2.0
// Measures how the parts of a pack use its bytes, for `kiln pack inspect --bytes`. Reads no blob.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// The use of a blob; a blob with several uses has the first one in this list.
enum class BlobKind : std::uint8_t {
  source,
  il,
  launches,
  binary,
  intermediate,
  cache_entries,
  dictionary,  // only used to code other blobs
  unused       // in a table of blobs, but nothing refers to it
};
inline constexpr std::size_t kBlobKinds = 8;

struct BlobSizes {
  std::size_t blobs = 0;
  std::uint64_t stored = 0;  // bytes in the pack
  std::uint64_t raw = 0;     // decoded
};

// `shared` blobs also belong to other targets or programs, and count in full for each of them.
struct TargetSizes {
  std::string label;
  std::string key;
  std::uint64_t section = 0;
  BlobSizes own;
  BlobSizes shared;
};

struct ProgramSizes {
  std::string name;
  std::array<BlobSizes, kBlobKinds> own;  // by kind
  BlobSizes shared;
};

struct PackSizes {
  // These and `kinds` are the whole file.
  std::uint64_t superblock = 0;
  std::uint64_t root = 0;
  std::uint64_t sections = 0;
  std::uint64_t signatures = 0;
  std::uint64_t padding = 0;
  std::uint64_t behind = 0;  // bytes after the pack, which are ignored
  std::array<BlobSizes, kBlobKinds> kinds;

  // By codec: raw, zstd, zstd with a base.
  std::array<BlobSizes, 3> codecs;

  std::size_t uses = 0;                // references to blobs
  std::uint64_t saved = 0;             // stored bytes that a copy for each further use would take
  std::vector<TargetSizes> targets;    // in the order of the pack
  std::vector<ProgramSizes> programs;  // source, IL and launches, and binaries for any target

  BlobSizes blobs() const;  // the sum over all kinds
  std::uint64_t file() const;
};

// Measures a pack. `contents` are the contents of `pack`; `file_size` is the size of the whole
// file. Bytes that lie in several parts, as in a forged pack, count for the first.
Result<PackSizes> measure_pack(const packs::Pack &pack, const packs::Contents &contents,
                               std::uint64_t file_size);

std::string sizes_text(const PackSizes &sizes, const std::string &path);
// Returns JSON of schema 1.
nlohmann::json sizes_json(const PackSizes &sizes);

}  // namespace kiln::builder
