// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a pack are, for `kiln inspect --sizes`. No blob is read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// What a blob is for; of a blob with several uses the first one here.
enum class BlobKind : std::uint8_t {
  source,
  il,
  launches,
  binary,
  intermediate,
  auxiliary,
  dictionary,  // others are coded with it, and it is for nothing else
  unused       // in a table of blobs, and nothing refers to it
};
inline constexpr std::size_t kBlobKinds = 8;

struct BlobSizes {
  std::size_t blobs = 0;
  std::uint64_t stored = 0;  // bytes in the pack
  std::uint64_t raw = 0;     // decoded
};

// `shared` is stored for another target or program, too, and for each of them whole.
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
  std::uint64_t behind = 0;  // bytes after the pack, which are not looked at
  std::array<BlobSizes, kBlobKinds> kinds;

  // By how they are stored: raw, zstd, zstd with a base.
  std::array<BlobSizes, 3> codecs;

  std::size_t uses = 0;     // references to blobs
  std::uint64_t saved = 0;  // stored bytes that a second copy for each further use would take
  std::vector<TargetSizes> targets;    // as the pack has them
  std::vector<ProgramSizes> programs;  // their source, IL and launches, and binaries of any target

  BlobSizes blobs() const;  // the sum over all kinds
  std::uint64_t file() const;
};

// `contents` is what `pack` has, `file_size` that of the file that it is in. Bytes that lie in
// several parts, as in a forged pack, count for the first.
Result<PackSizes> measure_pack(const packs::Pack &pack, const packs::Contents &contents,
                               std::uint64_t file_size);

std::string sizes_text(const PackSizes &sizes, const std::string &path);
// Schema 1.
nlohmann::json sizes_json(const PackSizes &sizes);

}  // namespace kiln::builder
