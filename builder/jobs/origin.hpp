// SPDX-License-Identifier: Apache-2.0
// What decides a job's answer. A binary's origin has two digests, of what decided its bytes and of
// what its results were compared with; a pack keeps both beside the binary (FORMAT.md), and
// fit_of() alone decides by them whether it serves in place of a new one. The store's key has the
// same two, and all that is known of device and driver. Pure.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "builder/finish/job.hpp"
#include "builder/store/store.hpp"

namespace kiln::builder {

// Number that is raised whenever the builder makes other answers from the same inputs: another
// finisher, another proof, other members of JobRunner::run()'s answer.
inline constexpr int kBuilderVersion = 11;

// Returns everything known of device and driver as canonical JSON: the binary key, the driver's
// compiler library, and every identity string but the device's UUID, which names one board.
std::string platform_of(const DeviceInfo &device);

// Hash of a digest, whose bytes are as good as random.
struct HashOfDigest {
  std::size_t operator()(const packs::Digest &digest) const {
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof(hash));
    return hash;
  }
};

// Two digests as 16 hexadecimal digits each.
struct Origin {
  std::string made_from{};  // empty: any origin will do
  std::string proved_by{};  // empty: nothing can be launched for a proof
  bool proves = true;       // false: the build compares nothing, and keeps what was compared
  // Results are compared with a reference, so that a proof needs no program built from source.
  bool by_reference = false;
  std::string made_with_workaround{};  // in place of `made_from` for a binary with one

  void note_in(packs::Finish *finish) const;
};

// Returns the digest of what decides the bytes. Of the device it has the binary key alone: a driver
// version that the key leaves out accepts the same binaries.
std::string made_from(const Job &job);
// Returns the digest for a binary that was built with a workaround: it also covers the manifest's
// workarounds and the IL.
std::string made_with_workaround(const Job &job);

// Digests of what proves the results of each variant of `base`: for all variants with the same
// hash, which share a binary, their arguments, sizes and tolerances and their references' contents.
class ProofOrigins {
 public:
  ProofOrigins() = default;  // knows no variant
  // `checks` are the programs'.
  ProofOrigins(const packs::Contents &base, const std::vector<ResultCheck> &checks);

  // Returns the digest for a job of that variant, one of the base's.
  const std::string &of(const packs::Variant &variant) const { return digests_.at(&variant); }

  // Returns whether a proof can no longer be relied on: another digest belongs to it than to any
  // variant with the hash. False for hashes that `base` lacks, and for those whose reference was
  // not found, since there is no digest to compare.
  bool is_stale(const packs::Binary &binary) const;
  // Returns whether one of the variants with the hash may be packed only with a proof.
  bool needs_proof(const packs::Digest &hash) const;

 private:
  struct OfHash {
    std::vector<std::string> digests{};
    bool is_known = true;
    bool needs_proof = false;
  };
  std::unordered_map<const packs::Variant *, std::string> digests_;
  std::unordered_map<packs::Digest, OfHash, HashOfDigest> by_hash_;
};

// Whether an earlier binary serves in place of one of another origin.
struct Fit {
  bool bytes = true;      // false: other bytes would be made
  std::string why_not{};  // empty: it serves with its proof; a sentence without a full stop

  bool serves() const { return why_not.empty(); }
};
Fit fit_of(const packs::Finish &earlier, const Origin &wanted);

// Returns the action of a job. Hashes tell programs and variants apart: neither their names nor
// the job's time limit are in the key. `platform` is platform_of(job.device).
Action action_of(const Job &job, const Origin &origin, const std::string &platform);

}  // namespace kiln::builder
