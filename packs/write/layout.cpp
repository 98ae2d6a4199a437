// SPDX-License-Identifier: Apache-2.0
// Lists the root, the sections and the entries of their blobs.
#include "kiln/packs/layout.hpp"

namespace kiln::packs {
namespace {

std::vector<BlobRef> entries_of(const flatbuffers::Vector<const fb::Blob *> &blobs) {
  std::vector<BlobRef> entries;
  for (const fb::Blob *blob : blobs) entries.emplace_back(blob);
  return entries;
}

}  // namespace

Status read_layout(const Pack &pack, Layout *out) {
  Layout layout;
  layout.root = {pack.superblock().root_offset, pack.superblock().root_size};
  layout.blobs = entries_of(*pack.schema().blobs());
  for (std::size_t i = 0; i < pack.target_count(); ++i) {
    const fb::TargetEntry &entry = *pack.schema().targets()->Get(static_cast<unsigned>(i));
    TargetRef target;
    if (Status s = pack.target(i, &target); !s.ok()) return s;
    layout.sections.push_back(
        {{entry.offset(), entry.size()}, entries_of(*target.schema().blobs())});
  }
  *out = std::move(layout);
  return {};
}

}  // namespace kiln::packs
