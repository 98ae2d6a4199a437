// SPDX-License-Identifier: Apache-2.0
// Checks that variants have their hashes, and that nothing but zeros lies between the parts.
#include "kiln/packs/soundness.hpp"

#include <algorithm>
#include <map>

#include "kiln/packs/text.hpp"

namespace kiln::packs {
namespace {

// From where to where, of what lies in a pack.
using Parts = std::map<std::uint64_t, std::uint64_t>;

void add_blobs(const flatbuffers::Vector<const fb::Blob *> &blobs, Parts *parts) {
  for (const fb::Blob *blob : blobs) {
    std::uint64_t &end = (*parts)[blob->offset()];
    end = std::max(end, blob->offset() + blob->stored_size());
  }
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

Status check_variant_hashes(const Contents &contents) {
  for (const Program &program : contents.programs) {
    for (const Variant &variant : program.variants) {
      Status s = check_variant_hash(program.name, variant);
      if (s.code == Code::conflict) return s;
    }
  }
  return {};
}

Status check_layout(const Pack &pack) {
  const Superblock &superblock = pack.superblock();
  Parts parts{{superblock.root_offset, superblock.root_offset + superblock.root_size}};
  add_blobs(*pack.schema().blobs(), &parts);
  for (std::size_t i = 0; i < pack.target_count(); ++i) {
    const fb::TargetEntry &entry = *pack.schema().targets()->Get(static_cast<unsigned>(i));
    TargetRef target;
    if (Status s = pack.target(i, &target); !s.ok()) return s;
    add_blobs(*target.schema().blobs(), &parts);
    parts[entry.offset()] = entry.offset() + entry.size();
    Bytes scratch;
    View section;
    if (Status s = pack.bytes_at(entry.offset(), entry.size(), &scratch, &section); !s.ok()) {
      return s;
    }
    if (blake2b(section) != to_digest(entry.name())) {
      return Status::error(Code::section_corrupt, {"target ", decimal(i),
                                                   ": its section does not have the BLAKE2b hash "
                                                   "that names it"});
    }
  }
  std::uint64_t end = kSuperblockSize;
  for (const auto &[from, to] : parts) {
    if (Status s = check_zeros(pack, end, from); !s.ok()) return s;
    end = std::max(end, to);
  }
  return check_zeros(pack, end, superblock.pack_size);
}

}  // namespace kiln::packs
