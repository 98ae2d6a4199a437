// SPDX-License-Identifier: Apache-2.0
// In which form each blob of a pack is stored: FORMAT.md, "Writing".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/write_options.hpp"

struct ZSTD_CCtx_s;

namespace kiln::packs {

// Of each blob only a few sampled hashes are kept, some 500 bytes whatever its size. The answers
// depend on the blobs and their order alone. Not thread-safe.
class SimilarBlobs {
 public:
  // Numbers blobs from 0 in the order of the calls.
  void add(View raw);
  // Numbers of at most three blobs, the most similar first; of equal ones the latest.
  std::vector<std::uint32_t> find(View raw) const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  using Latest = std::array<std::uint32_t, 4>;  // blobs that have a hash, the latest first

  std::unordered_map<std::uint64_t, Latest> blobs_;
  std::uint32_t count_ = 0;
};

// What a blob is to the pack.
enum class BlobKind : std::uint8_t { source, il, launches, binary, auxiliary, dictionary };

struct BlobUse {
  BlobKind kind = BlobKind::source;
  Digest variant{};       // of a binary
  std::string profile{};  // of a binary's target
};

// A blob as it will be stored.
struct EncodedBlob {
  Codec codec = Codec::raw;
  std::optional<BlobSource> base{};
  Bytes stored{};
  std::uint64_t raw_size = 0;
  std::uint64_t xxh3 = 0;
};

// Blobs are given in the order in which they are stored: what one is coded with comes before it,
// or is a dictionary, which nothing else names. One thread; compresses with more.
class Encoder {
 public:
  explicit Encoder(const WriteOptions &options);

  // Notes which IL is whose, and makes dictionaries where the purpose has them.
  Status prepare(const Contents &contents);
  // Checks the blob against its name, then codes it or copies its frame.
  Status encode(const BlobSource &source, const BlobUse &use, EncodedBlob *out);

 private:
  bool keeps(const BlobSource &source, EncodedBlob *out);
  std::vector<BlobSource> bases_for(const BlobSource &source, const BlobUse &use, View raw) const;
  Status code(const BlobSource &source, const BlobUse &use, View raw, EncodedBlob *out);
  Purpose purpose_for(const BlobSource &source) const;
  bool makes(const BlobSource &base) const;  // a dictionary
  // How many blobs have to be decoded before it.
  unsigned bases_of(const BlobSource &source) const;
  void remember(const BlobSource &source, const BlobUse &use, View raw, const EncodedBlob &coded);
  Status make_dictionaries(const Contents &contents);

  struct FreeContext {
    void operator()(ZSTD_CCtx_s *context) const;
  };
  using Context = std::unique_ptr<ZSTD_CCtx_s, FreeContext>;

  WriteOptions options_;
  Context context_;
  Bytes scratch_;                                   // the raw bytes of the blob that is coded
  std::map<Digest, std::vector<BlobSource>> il_;    // by variant
  std::set<Digest> of_programs_;                    // names of stored source and IL
  std::map<std::string, BlobSource> dictionaries_;  // by group
  std::map<Digest, unsigned> bases_;                // of stored blobs, where there are any
  std::map<std::pair<std::string, Digest>, BlobSource>
      siblings_;                    // by profile and variant: the last binary
  std::vector<BlobSource> stored_;  // by the number that `similar_` has
  SimilarBlobs similar_;
};

}  // namespace kiln::packs
