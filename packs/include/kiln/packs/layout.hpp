// SPDX-License-Identifier: Apache-2.0
// Where everything lies in a pack.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kiln/packs/pack.hpp"

namespace kiln::packs {

struct Place {
  std::uint64_t offset = 0;  // from the first byte of the superblock
  std::uint64_t size = 0;
};

struct Layout {
  struct Section {
    Place place;
    std::vector<BlobRef> blobs;  // its table, whose entries another table may have, too
  };
  Place root;
  std::vector<BlobRef> blobs;     // the root's table
  std::vector<Section> sections;  // one for each target, in the order of the targets
};

// Reads and checks each section, and no blob. Places are within the pack; in a forged one they may
// lie over each other.
Status read_layout(const Pack &pack, Layout *out);

}  // namespace kiln::packs
