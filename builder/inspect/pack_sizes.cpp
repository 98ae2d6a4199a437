// SPDX-License-Identifier: Apache-2.0
// Finds the use and the owner of each blob, and assigns each byte of the file to one part.
#include "builder/inspect/pack_sizes.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "builder/base/progress_text.hpp"
#include "builder/base/table.hpp"
#include "builder/inspect/pack_json.hpp"
#include "kiln/packs/layout.hpp"
#include "kiln/packs/signatures.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

constexpr const char *kBlobKindNames[kBlobKinds] = {
    "source",        "il",           "launches", "binaries", "intermediates",
    "cache_entries", "dictionaries", "unused"};
constexpr const char *kCodecNames[] = {"raw", "zstd", "zstd with a base"};

// A blob of the file; several tables may refer to it.
struct StoredBlob {
  std::uint64_t stored = 0;
  std::uint64_t raw = 0;
  packs::Codec codec = packs::Codec::raw;
  BlobKind kind = BlobKind::unused;
  std::size_t uses = 0;
  std::set<std::size_t> targets{};
  std::set<std::size_t> programs{};
};

using StoredBlobs = std::map<std::uint64_t, StoredBlob>;  // by offset

void add(const StoredBlob &blob, BlobSizes *sizes) {
  ++sizes->blobs;
  sizes->stored += blob.stored;
  sizes->raw += blob.raw;
}

void add_entries(const packs::Pack &pack, const std::vector<packs::BlobRef> &entries,
                 StoredBlobs *blobs) {
  for (const packs::BlobRef entry : entries) {
    if (const packs::BlobRef base = pack.blob(entry.base())) {
      StoredBlob &blob = (*blobs)[base.offset()];
      blob.kind = std::min(blob.kind, BlobKind::dictionary);
    }
    StoredBlob &blob = (*blobs)[entry.offset()];
    blob.codec = entry.codec();
    blob.stored = std::max(blob.stored, entry.stored_size());
    blob.raw = std::max(blob.raw, entry.raw_size());
  }
}

// Notes the uses of blobs by programs and targets.
class BlobUses {
 public:
  BlobUses(const packs::Contents &contents, StoredBlobs *blobs) : blobs_(blobs) {
    for (std::size_t i = 0; i < contents.programs.size(); ++i) {
      for (const packs::Variant &variant : contents.programs[i].variants) {
        programs_.emplace(variant.hash, i);
        for (const auto *blob :
             {&variant.source, &variant.il32, &variant.il64, &variant.launches}) {
          const BlobKind kind = blob == &variant.source     ? BlobKind::source
                                : blob == &variant.launches ? BlobKind::launches
                                                            : BlobKind::il;
          if (*blob) use(**blob, kind).programs.insert(i);
        }
      }
    }
    for (std::size_t i = 0; i < contents.targets.size(); ++i) {
      const packs::Target &target = contents.targets[i];
      if (target.cache_entries)
        use(*target.cache_entries, BlobKind::cache_entries).targets.insert(i);
      for (const packs::Binary &b : target.binaries) use_binary(b, BlobKind::binary, i);
      for (const packs::Binary &b : target.intermediates) use_binary(b, BlobKind::intermediate, i);
    }
  }

 private:
  StoredBlob &use(const packs::BlobSource &source, BlobKind kind) {
    StoredBlob &blob = (*blobs_)[source.blob().offset()];
    ++blob.uses;
    blob.kind = std::min(blob.kind, kind);
    return blob;
  }

  void use_binary(const packs::Binary &binary, BlobKind kind, std::size_t target) {
    const auto program = programs_.find(binary.variant);
    const auto add_owner = [&](StoredBlob *blob) {
      blob->targets.insert(target);
      if (program != programs_.end()) blob->programs.insert(program->second);
    };
    add_owner(&use(binary.blob, kind));
    if (binary.cache_entries) add_owner(&use(*binary.cache_entries, BlobKind::cache_entries));
  }

  StoredBlobs *blobs_;
  std::map<packs::Digest, std::size_t> programs_;  // by the hash of a variant
};

// Counts the bytes of each part in the order of offsets; bytes of overlapping parts count for the
// first.
void count_bytes(const packs::Layout &layout, std::uint64_t pack_size, StoredBlobs *blobs,
                 PackSizes *sizes) {
  struct Part {
    std::uint64_t size;
    std::uint64_t *counted;
  };
  std::multimap<std::uint64_t, Part> parts;
  sizes->superblock = packs::kSuperblockSize;
  parts.insert({layout.root.offset, {layout.root.size, &sizes->root}});
  for (std::size_t i = 0; i < layout.sections.size(); ++i) {
    const packs::ByteRange &place = layout.sections[i].place;
    parts.insert({place.offset, {place.size, &sizes->targets[i].section}});
  }
  for (auto &[offset, blob] : *blobs) parts.insert({offset, {blob.stored, &blob.stored}});
  std::uint64_t end = packs::kSuperblockSize;
  for (const auto &[offset, part] : parts) {
    if (offset > end) sizes->padding += offset - end;
    const std::uint64_t from = std::max(offset, end);
    end = std::max(end, offset + part.size);
    *part.counted = end - from;
  }
  sizes->padding += pack_size - end;
}

void sum_up(const StoredBlobs &blobs, PackSizes *sizes) {
  for (const TargetSizes &target : sizes->targets) sizes->sections += target.section;
  for (const auto &entry : blobs) {
    const StoredBlob &blob = entry.second;
    const auto kind = static_cast<std::size_t>(blob.kind);
    add(blob, &sizes->kinds[kind]);
    const auto codec = static_cast<std::size_t>(blob.codec);
    if (codec < sizes->codecs.size()) add(blob, &sizes->codecs[codec]);
    sizes->uses += blob.uses;
    if (blob.uses > 1) sizes->saved += (blob.uses - 1) * blob.stored;
    for (const std::size_t i : blob.targets) {
      TargetSizes &target = sizes->targets[i];
      add(blob, blob.targets.size() == 1 ? &target.own : &target.shared);
    }
    for (const std::size_t i : blob.programs) {
      ProgramSizes &program = sizes->programs[i];
      add(blob, blob.programs.size() == 1 ? &program.own[kind] : &program.shared);
    }
  }
}

std::string of_blobs(const BlobSizes &sizes) {
  return fmt::format("{}, {} bytes decoded", count(sizes.blobs, "blob"), sizes.raw);
}

std::string program_line(const ProgramSizes &program) {
  std::string text = "program " + program.name + ":";
  const char *separator = " ";
  for (std::size_t kind = 0; kind < kBlobKinds; ++kind) {
    if (program.own[kind].blobs == 0) continue;
    text += fmt::format("{}{} {}", separator, program.own[kind].stored, kBlobKindNames[kind]);
    separator = ", ";
  }
  return text + fmt::format("{}{} shared with other programs\n", separator, program.shared.stored);
}

json blob_sizes_json(const BlobSizes &sizes) {
  return {{"blobs", sizes.blobs}, {"stored", sizes.stored}, {"raw", sizes.raw}};
}

json by_kind(const std::array<BlobSizes, kBlobKinds> &kinds) {
  json out = json::object();
  for (std::size_t kind = 0; kind < kBlobKinds; ++kind) {
    out[kBlobKindNames[kind]] = blob_sizes_json(kinds[kind]);
  }
  return out;
}

}  // namespace

BlobSizes PackSizes::blobs() const {
  BlobSizes all;
  for (const BlobSizes &kind : kinds) {
    all.blobs += kind.blobs;
    all.stored += kind.stored;
    all.raw += kind.raw;
  }
  return all;
}

std::uint64_t PackSizes::file() const {
  return superblock + root + sections + blobs().stored + signatures + padding + behind;
}

Result<PackSizes> measure_pack(const packs::Pack &pack, const packs::Contents &contents,
                               std::uint64_t file_size) {
  packs::Layout layout;
  if (Status s = packs::read_layout(pack, &layout); !s.ok()) return s;
  PackSizes sizes;
  for (const packs::Target &target : contents.targets) {
    sizes.targets.push_back({target_label(target), target.key, 0, {}, {}});
  }
  for (const packs::Program &program : contents.programs) {
    sizes.programs.push_back({program.name, {}, {}});
  }
  StoredBlobs blobs;
  add_entries(pack, layout.blobs, &blobs);
  for (const auto &section : layout.sections) add_entries(pack, section.blobs, &blobs);
  const BlobUses noted(contents, &blobs);
  const std::uint64_t pack_size = pack.superblock().pack_size;
  sizes.signatures = packs::signature_block_size(pack.superblock());
  count_bytes(layout, pack_size - sizes.signatures, &blobs, &sizes);
  sizes.behind = file_size > pack_size ? file_size - pack_size : 0;
  sum_up(blobs, &sizes);
  return sizes;
}

std::string sizes_text(const PackSizes &sizes, const std::string &path) {
  std::string text = fmt::format("{}: {} bytes\n", path, sizes.file());
  text += fmt::format("{}\tsuperblock\n{}\troot\n{}\tsections of {}\n", sizes.superblock,
                      sizes.root, sizes.sections, count(sizes.targets.size(), "target"));
  for (std::size_t kind = 0; kind < kBlobKinds; ++kind) {
    const BlobSizes &blobs = sizes.kinds[kind];
    if (blobs.blobs == 0) continue;
    text += fmt::format("{}\t{}: {}\n", blobs.stored, kBlobKindNames[kind], of_blobs(blobs));
  }
  if (sizes.signatures != 0) text += fmt::format("{}\tsignatures\n", sizes.signatures);
  text += fmt::format("{}\tpadding\n", sizes.padding);
  if (sizes.behind != 0) text += fmt::format("{}\tbehind the pack\n", sizes.behind);
  text = table_text(text, ">");
  const BlobSizes all = sizes.blobs();
  text += fmt::format("{}, stored in {}; used {}, sharing saves {} bytes\n", of_blobs(all),
                      all.stored, count(sizes.uses, "time"), sizes.saved);
  for (std::size_t codec = 0; codec < sizes.codecs.size(); ++codec) {
    const BlobSizes &blobs = sizes.codecs[codec];
    if (blobs.blobs == 0) continue;
    text += fmt::format("{}: {}, stored in {}, saves {}\n", kCodecNames[codec], of_blobs(blobs),
                        blobs.stored, blobs.raw - std::min(blobs.raw, blobs.stored));
  }
  for (const TargetSizes &target : sizes.targets) {
    text +=
        fmt::format("target {}: {} section, {} blobs of its own, {} shared with other targets\n",
                    target.label, target.section, target.own.stored, target.shared.stored);
  }
  for (const ProgramSizes &program : sizes.programs) text += program_line(program);
  return text;
}

json sizes_json(const PackSizes &sizes) {
  json targets = json::array();
  for (const TargetSizes &target : sizes.targets) {
    targets.push_back({{"label", target.label},
                       {"key", target.key},
                       {"section", target.section},
                       {"own", blob_sizes_json(target.own)},
                       {"shared", blob_sizes_json(target.shared)}});
  }
  json programs = json::array();
  for (const ProgramSizes &program : sizes.programs) {
    programs.push_back({{"name", program.name},
                        {"own", by_kind(program.own)},
                        {"shared", blob_sizes_json(program.shared)}});
  }
  json codecs = json::object();
  for (std::size_t codec = 0; codec < sizes.codecs.size(); ++codec) {
    codecs[kCodecNames[codec]] = blob_sizes_json(sizes.codecs[codec]);
  }
  return {{"schema", 1},
          {"file", sizes.file()},
          {"superblock", sizes.superblock},
          {"root", sizes.root},
          {"sections", sizes.sections},
          {"signatures", sizes.signatures},
          {"padding", sizes.padding},
          {"behind", sizes.behind},
          {"kinds", by_kind(sizes.kinds)},
          {"blobs", blob_sizes_json(sizes.blobs())},
          {"codecs", codecs},
          {"uses", sizes.uses},
          {"saved", sizes.saved},
          {"targets", targets},
          {"programs", programs}};
}

}  // namespace kiln::builder
