// SPDX-License-Identifier: Apache-2.0
// How the blobs of a pack are stored.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::packs {

// What a pack is for, which its blobs' stored form is chosen by.
enum class Purpose : std::uint8_t {
  startup,  // binaries are decoded fast, each by itself
  fleet,  // small: with dictionaries, and binaries with their variant's IL. Targets can be cut out
  archive,  // smallest: with any blob that is like it
};

struct WriteOptions {
  // false: binaries are stored as they are. A start then has no decoding, which costs it less
  // than half; the pack grows by what compression saved. IL and source are always compressed.
  bool compress_binaries = true;
  // true: only its owner may read the file (0600), and a symbolic link at the path is replaced.
  bool is_private = false;
  // None: blobs that come from packs stay in their form where what they are coded with is in the
  // pack, too (else as in `fleet`), and new ones are stored as in `startup`. Otherwise all of them
  // are stored anew.
  std::optional<Purpose> purpose{};
  // How `fleet` makes dictionaries: train_dictionary(); null: it has none.
  Status (*train)(const std::vector<BlobSource> &sources, Bytes *out) = nullptr;
};

}  // namespace kiln::packs
