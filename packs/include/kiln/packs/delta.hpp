// SPDX-License-Identifier: Apache-2.0
// One pack as its difference from another, after FORMAT.md.
#pragma once

#include <functional>
#include <string>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/storage.hpp"

namespace kiln::packs {

struct DeltaFacts {
  Digest old_name{};  // of the pack that the delta is for: BLAKE2b of superblock and root
  Digest new_name{};  // BLAKE2b of the file that it makes
  std::uint64_t old_size = 0;
  std::uint64_t new_size = 0;
  std::uint64_t delta_size = 0;
  std::uint64_t copied = 0;  // bytes of the new file that are the old pack's
};

// Writes the delta of `new_pack` from `old_pack` to `path`: whatever the new pack's storage has,
// bytes behind the pack, too. The same packs and the same zstd give the same bytes. In memory are
// what is known of both packs' parts, at most 128 MiB of their bytes, and what zstd needs for
// these.
Status make_delta(const Pack &old_pack, const Pack &new_pack, const std::string &path,
                  DeltaFacts *facts);

// Takes the bytes of the new pack, one run after the other.
using DeltaSink = std::function<Status(View)>;

// Gives `sink` the pack that `delta` makes of `old_pack`. Bytes that were given count only if this
// returns ok: the whole is checked at the end. At most 128 MiB are in memory. Fails with
// * bad_magic, truncated, bad_superblock, newer_version, unknown_feature, over_limit,
// out_of_bounds,
//   section_corrupt, section_malformed: a fault of the delta, in the words of FORMAT.md;
// * conflict: the delta is for another pack, and the message names both;
// * blob_corrupt: bytes of the old pack are not those that the delta was made of;
// * what `sink` returned.
Status apply_delta(const Pack &old_pack, const Storage &delta, const DeltaSink &sink,
                   DeltaFacts *facts);
// The same from a file, to a file that appears only when it is right. A fault in writing it is
// Code::no_space or Code::failed.
Status apply_delta(const Pack &old_pack, const std::string &delta, const std::string &path,
                   DeltaFacts *facts);

}  // namespace kiln::packs
