// SPDX-License-Identifier: Apache-2.0
// Where everything lies in a pack, and what opening one does not check: whether what it says of
// itself is so.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kiln/packs/contents.hpp"
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

// Whether the variant's hash is that of its source, options and kernels: a pack says so itself, and
// whoever takes a source from it believes it. Without a source there is nothing to compute it from.
// Code::conflict, or what reading the source gave.
Status check_variant_hash(const std::string &program, const Variant &variant);
// Of all variants whose source can be read.
Status check_variant_hashes(const Contents &contents);

// Whether a pack is nothing but what its format describes, which a signature of its root covers:
// the name of each target is that of its section, and between the parts lie zeros.
Status check_layout(const Pack &pack);

}  // namespace kiln::packs
