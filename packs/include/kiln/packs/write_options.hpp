// SPDX-License-Identifier: Apache-2.0
// How a pack's blobs are stored.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::packs {

// The purpose of a pack, which decides how its blobs are stored.
enum class Purpose : std::uint8_t {
  ready,  // what a device starts from: binaries as the driver takes them
  fleet,  // what travels: what is alike is stored once, also of several targets
  raw,    // nothing is compressed: needs no decoder, and an archiver compresses the whole file
};

struct WriteOptions {
  // true: only the owner may read the file (0600), and a symbolic link at the path is replaced.
  bool is_private = false;
  // false: after a loss of power the file may be empty or incomplete, which its hashes show. Waits
  // for no disk.
  bool is_synced = true;
  // If absent: blobs from packs keep their form if the pack also has their base, and others are
  // stored as in `ready`.
  std::optional<Purpose> purpose{};
};

}  // namespace kiln::packs
