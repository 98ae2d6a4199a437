// SPDX-License-Identifier: Apache-2.0
// The places of a pack's parts, and checks of a pack's claims about itself that opening skips.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/pack.hpp"

namespace kiln::packs {

struct ByteRange {
  std::uint64_t offset = 0;  // from the first byte of the superblock
  std::uint64_t size = 0;
};

struct Layout {
  struct Section {
    ByteRange place;
    std::vector<BlobRef> blobs;  // the section's table; other tables may have the same entries
  };
  ByteRange root;
  std::vector<BlobRef> blobs;     // the root's table
  std::vector<Section> sections;  // one for each target, in the order of the targets
};

// Reads and checks each section, but no blobs. Places are within the pack; in a forged pack they
// may overlap.
Status read_layout(const Pack &pack, Layout *out);

// Fails with Code::conflict if the variant's hash does not match its source, options and kernels,
// or as reading the source does. The hash is the pack's own claim, and whoever takes a source from
// the pack believes it. A variant without source is not checked.
Status check_variant_hash(const std::string &program, const Variant &variant);

// Fails unless a pack is nothing but what its format describes and a signature of its root covers:
// each target has the name of its section, and only zeros lie between the parts.
Status check_layout(const Pack &pack);

}  // namespace kiln::packs
