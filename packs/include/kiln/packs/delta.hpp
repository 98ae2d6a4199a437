// SPDX-License-Identifier: Apache-2.0
// One pack as its difference from another, as in FORMAT.md.
#pragma once

#include <functional>
#include <string>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/storage.hpp"

namespace kiln::packs {

struct DeltaFacts {
  Digest old_name{};  // the pack that the delta is for: BLAKE2b of superblock and root
  Digest new_name{};  // the resulting file: BLAKE2b
  std::uint64_t old_size = 0;
  std::uint64_t new_size = 0;
  std::uint64_t delta_size = 0;
  std::uint64_t copied = 0;  // bytes of the new file that come from the old pack
};

// Writes to `path` the delta that makes `new_pack` from `old_pack`: everything in the new pack's
// storage, including bytes after the pack. The same packs and the same zstd give the same bytes.
// Keeps in memory the lists of both packs' parts, at most 128 MiB of their bytes, and zstd's
// working memory.
Status make_delta(const Pack &old_pack, const Pack &new_pack, const std::string &path,
                  DeltaFacts *facts);

// Takes the bytes of the new pack, one run after the other.
using DeltaSink = std::function<Status(View)>;

// Gives `sink` the pack that `delta` makes from `old_pack`. The bytes count only if this returns
// ok: the whole is checked at the end. Keeps at most 128 MiB in memory. Fails with
// * bad_magic, truncated, bad_superblock, newer_version, unknown_feature, over_limit,
//   out_of_bounds, section_corrupt, section_malformed: a fault of the delta, in the words of
//   FORMAT.md;
// * conflict: the delta is for another pack, and the message names both;
// * blob_corrupt: bytes of the old pack differ from the ones that made the delta;
// * the status that `sink` returned.
Status apply_delta(const Pack &old_pack, const Storage &delta, const DeltaSink &sink,
                   DeltaFacts *facts);
// Does the same from a file to a file, which appears only if it is right. Fails with Code::no_space
// or Code::failed if the file cannot be written.
Status apply_delta(const Pack &old_pack, const std::string &delta, const std::string &path,
                   DeltaFacts *facts);

}  // namespace kiln::packs
