// SPDX-License-Identifier: Apache-2.0
// Lists the root, the sections and their blob entries; checks the hashes of variants, and that only
// zeros lie between the parts. It only reads, but no application needs it: so it is not in read/.
#include "kiln/packs/layout.hpp"

#include <algorithm>
#include <map>

#include "kiln/packs/signatures.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::packs {

namespace {

std::vector<BlobRef> entries_of(const flatbuffers::Vector<const fb::Blob *> &blobs) {
  std::vector<BlobRef> entries;
  for (const fb::Blob *blob : blobs) entries.emplace_back(blob);
  return entries;
}

// The begin and the end of each part of a pack.
using Parts = std::map<std::uint64_t, std::uint64_t>;

void add_blobs(const std::vector<BlobRef> &blobs, Parts *parts) {
  for (const BlobRef blob : blobs) {
    std::uint64_t &end = (*parts)[blob.offset()];
    end = std::max(end, blob.offset() + blob.stored_size());
  }
}

Status check_section_name(const Pack &pack, const ByteRange &place, std::size_t target) {
  const fb::TargetEntry &entry = *pack.schema().targets()->Get(static_cast<unsigned>(target));
  Bytes scratch;
  View section;
  if (Status s = pack.bytes_at(place.offset, place.size, &scratch, &section); !s.ok()) return s;
  if (blake2b(section) == to_digest(entry.name())) return {};
  return Status::error(
      Code::section_corrupt,
      {"target ", decimal(target), ": its section does not have the BLAKE2b hash that names it"});
}

Status check_zeros(const Pack &pack, std::uint64_t from, std::uint64_t to) {
  if (from >= to) return {};
  Bytes scratch;
  View gap;
  if (to - from >= kAlignment) {
    return Status::error(Code::out_of_bounds,
                         {"bytes ", decimal(from), " to ", decimal(to), " belong to nothing"});
  }
  if (Status s = pack.bytes_at(from, to - from, &scratch, &gap); !s.ok()) return s;
  const auto zero = [](std::uint8_t byte) { return byte == 0; };
  if (std::all_of(gap.data, gap.data + gap.size, zero)) return {};
  return Status::error(Code::reserved_not_zero, {"the padding at ", decimal(from), " is not zero"});
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

Status check_variant_hash(const std::string &program, const Variant &variant) {
  if (!variant.source) return {};
  Bytes source;
  if (Status s = variant.source->read(&source); !s.ok()) return s;
  std::vector<std::string> kernels;
  for (const Kernel &kernel : variant.kernels) kernels.push_back(kernel.name);
  const std::string_view text(reinterpret_cast<const char *>(source.data()), source.size());
  if (variant_hash(text, variant.options, kernels) == variant.hash) return {};
  return Status::error(Code::conflict, {"program ", program, ", variant ", variant.name,
                                        ": its source, options and kernels do not have the "
                                        "recorded hash"});
}

Status check_layout(const Pack &pack) {
  const Superblock &superblock = pack.superblock();
  Layout layout;
  if (Status s = read_layout(pack, &layout); !s.ok()) return s;
  Parts parts{{layout.root.offset, layout.root.offset + layout.root.size}};
  add_blobs(layout.blobs, &parts);
  for (std::size_t i = 0; i < layout.sections.size(); ++i) {
    const Layout::Section &section = layout.sections[i];
    add_blobs(section.blobs, &parts);
    parts[section.place.offset] = section.place.offset + section.place.size;
    if (Status s = check_section_name(pack, section.place, i); !s.ok()) return s;
  }
  std::uint64_t end = kSuperblockSize;
  for (const auto &[from, to] : parts) {
    if (Status s = check_zeros(pack, end, from); !s.ok()) return s;
    end = std::max(end, to);
  }
  std::vector<Signature> signatures;
  if (Status s = read_signatures(pack, &signatures); !s.ok()) return s;
  return check_zeros(pack, end, superblock.pack_size - size_behind_root(superblock));
}

}  // namespace kiln::packs
