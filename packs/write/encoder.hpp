// SPDX-License-Identifier: Apache-2.0
// The stored form of each blob in a pack (FORMAT.md, "Writing").
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/write_options.hpp"

struct ZSTD_CCtx_s;

namespace kiln::packs {

// The role of a blob in the pack.
enum class BlobKind : std::uint8_t { source, il, launches, binary, cache_entries };

struct BlobUse {
  BlobKind kind = BlobKind::source;
  Digest variant{};       // of a binary
  std::string profile{};  // of a binary's target
};

// A blob in its stored form.
struct EncodedBlob {
  Codec codec = Codec::raw;
  std::optional<BlobSource> base{};
  Bytes stored{};
  std::uint64_t raw_size = 0;
  std::uint64_t xxh3 = 0;
};

// Makes one zstd frame of a root or a section.
Status compress_part(View raw, Bytes *out);

// The form in which a pack's blobs are stored. For one thread.
class BlobForms {
 public:
  BlobForms() = default;
  BlobForms(const BlobForms &) = delete;
  BlobForms &operator=(const BlobForms &) = delete;
  virtual ~BlobForms() = default;

  // Called once, before the first blob.
  virtual Status prepare(const Contents &contents) = 0;
  // Checks the blob against its name, then encodes it or copies its frame.
  virtual Status encode(const BlobSource &source, const BlobUse &use, EncodedBlob *out) = 0;

 protected:
  // Sets `*raw` to the blob's bytes, which live until the next call, and `*out` to the raw form
  // without its bytes. Fails for a blob that does not have its name.
  Status check(const BlobSource &source, View *raw, EncodedBlob *out);

 private:
  Bytes scratch_;
};

// Copies frames from packs, and stores all other blobs raw.
class RawForms : public BlobForms {
 public:
  Status prepare(const Contents &contents) override;
  Status encode(const BlobSource &source, const BlobUse &use, EncodedBlob *out) override;
};

// Encodes blobs in the order in which they are stored: a blob's base comes before it. Compresses
// with several threads.
class Encoder : public BlobForms {
 public:
  // See WriteOptions.
  explicit Encoder(std::optional<Purpose> purpose);

  // Notes each variant's program and IL.
  Status prepare(const Contents &contents) override;
  Status encode(const BlobSource &source, const BlobUse &use, EncodedBlob *out) override;

 private:
  bool keeps(const BlobSource &source, const BlobUse &use, EncodedBlob *out);
  std::vector<std::string> likeness(const BlobUse &use) const;
  std::vector<BlobSource> bases_for(const BlobSource &source, const BlobUse &use) const;
  Status code(const BlobSource &source, const BlobUse &use, View raw, EncodedBlob *out);
  // Returns how many blobs must be decoded before this one.
  unsigned bases_of(const BlobSource &source) const;
  void remember(const BlobSource &source, const BlobUse &use, const EncodedBlob &coded);

  struct FreeContext {
    void operator()(ZSTD_CCtx_s *context) const;
  };

  std::optional<Purpose> purpose_;
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;
  std::map<Digest, std::vector<BlobSource>> il_;            // by variant
  std::map<Digest, std::string> programs_;                  // by variant
  std::set<Digest> stored_;                                 // names of what is stored
  std::map<Digest, unsigned> bases_;                        // of stored blobs with bases
  std::map<std::string, std::vector<BlobSource>> earlier_;  // the last few, by likeness
};

}  // namespace kiln::packs
