#include "checks.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "kiln/packs/hash.hpp"

namespace kiln::packs {
namespace {

constexpr unsigned kMaxDepth = 16;
constexpr unsigned kMaxTables = 1000000;
constexpr unsigned kRoles = 5;
constexpr unsigned kStorages = 2;

bool placed(std::uint64_t offset, std::uint64_t size, const Superblock &superblock) {
  return offset >= kSuperblockSize && offset % kAlignment == 0 && offset <= superblock.pack_size &&
         size <= superblock.pack_size - offset;
}

Status root_error(std::string_view what) {
  return Status::error(Fault::root_malformed, {"root: ", what});
}

Status section_error(const char *what) {
  return Status::error(Fault::section_malformed, {"section: ", what});
}

// The table that the bytes hold, or null where they break the schema or its limits.
template <typename Table>
const Table *verified(View bytes) {
  flatbuffers::Verifier verifier(bytes.data, bytes.size, kMaxDepth, kMaxTables);
  if (!verifier.VerifyBuffer<Table>(nullptr)) return nullptr;
  return flatbuffers::GetRoot<Table>(bytes.data);
}

// The verifier looks at the alignment of a vector's length, not at that of its structs.
template <typename Struct>
bool aligned(const flatbuffers::Vector<const Struct *> &structs) {
  return structs.size() == 0 ||
         reinterpret_cast<std::uintptr_t>(structs.Data()) % alignof(Struct) == 0;
}

std::string_view view(const flatbuffers::String &text) { return {text.c_str(), text.size()}; }

// A zero byte would end a name early wherever it is used as a C string.
bool is_name(const flatbuffers::String &name) {
  return name.size() != 0 && view(name).find('\0') == std::string_view::npos;
}

// Names in a vector of keyed tables must rise strictly, so that a look-up finds each.
template <typename Tables>
bool names_rise(const Tables &tables) {
  const flatbuffers::String *previous = nullptr;
  for (const auto *table : tables) {
    if (!is_name(*table->name())) return false;
    if (previous != nullptr && !(*previous < *table->name())) return false;
    previous = table->name();
  }
  return true;
}

// Kernels keep the manifest's order, so their names are sorted aside.
bool kernels_named(const fb::Variant &variant) {
  std::vector<std::string_view> names;
  names.reserve(variant.kernels()->size());
  for (const fb::Kernel *kernel : *variant.kernels()) {
    if (!is_name(*kernel->name())) return false;
    names.push_back(view(*kernel->name()));
  }
  sort_names(&names);
  return std::adjacent_find(names.begin(), names.end()) == names.end();
}

Status check_variant(const fb::Variant &variant, std::size_t blobs) {
  const auto fault = [&](Fault what, const char *why) {
    return Status::error(what, {"root: variant ", view(*variant.name()), ": ", why});
  };
  if (variant.kernels()->size() == 0) return fault(Fault::root_malformed, "no kernel");
  if (!kernels_named(variant)) {
    return fault(Fault::root_malformed, "kernel names are not unique names");
  }
  for (const std::uint32_t index : {variant.source(), variant.il32(), variant.il64()}) {
    if (index > blobs) return fault(Fault::out_of_bounds, "blob index out of range");
  }
  for (const fb::Argument *argument : *variant.arguments()) {
    if (argument->role() >= kRoles || argument->storage() >= kStorages) {
      return fault(Fault::root_malformed, "unknown role or storage of an argument");
    }
  }
  return {};
}

Status check_programs(const fb::Root &root) {
  if (root.programs()->size() > kMaxPrograms) {
    return Status::error(Fault::over_limit, "root: over 65,536 programs");
  }
  if (!names_rise(*root.programs())) return root_error("program names are not sorted and unique");
  for (const fb::Program *program : *root.programs()) {
    const std::string_view name = view(*program->name());
    if (program->variants()->size() > kMaxPrograms) {
      return Status::error(Fault::over_limit, {"root: over 65,536 variants in program ", name});
    }
    if (!names_rise(*program->variants())) {
      return Status::error(Fault::root_malformed,
                           {"root: variant names of program ", name, " are not sorted and unique"});
    }
    for (const fb::Variant *variant : *program->variants()) {
      Status status = check_variant(*variant, root.blobs()->size());
      if (!status.ok()) return status;
    }
  }
  return {};
}

Status check_targets(const fb::Root &root, const Superblock &superblock) {
  if (!aligned(*root.targets())) return root_error("targets are not aligned");
  if (root.targets()->size() > kMaxTargets) {
    return Status::error(Fault::over_limit, "root: over 1,048,576 targets");
  }
  const fb::TargetEntry *previous = nullptr;
  for (const fb::TargetEntry *entry : *root.targets()) {
    if (entry->size() > kMaxSectionSize) {
      return Status::error(Fault::over_limit, "root: a section is over 64 MiB");
    }
    if (entry->size() == 0 || !placed(entry->offset(), entry->size(), superblock)) {
      return Status::error(Fault::out_of_bounds, "root: a section lies outside of the pack");
    }
    const bool rises =
        previous == nullptr || previous->key_hash() < entry->key_hash() ||
        (previous->key_hash() == entry->key_hash() && compare(previous->name(), entry->name()) < 0);
    if (!rises) return root_error("targets are not sorted and unique");
    previous = entry;
  }
  return {};
}

Status check_blobs(const flatbuffers::Vector<const fb::Blob *> &blobs,
                   const Superblock &superblock) {
  for (const fb::Blob *blob : blobs) {
    if (Status status = check_blob(*blob, superblock); !status.ok()) return status;
  }
  return {};
}

Status check_binaries(const fb::Section &section) {
  const fb::Binary *previous = nullptr;
  for (const fb::Binary *binary : *section.binaries()) {
    if (binary->reserved() != 0) {
      return Status::error(Fault::reserved_not_zero, "section: reserved field is not zero");
    }
    if (binary->blob() >= section.blobs()->size()) {
      return Status::error(Fault::out_of_bounds, "section: blob index out of range");
    }
    if (previous != nullptr && compare(previous->variant(), binary->variant()) >= 0) {
      return section_error("binaries are not sorted and unique");
    }
    previous = binary;
  }
  return {};
}

Status check_provenance(const fb::Section &section) {
  if (section.binaries()->size() != section.provenance()->size()) {
    return section_error("not one provenance per binary");
  }
  for (const fb::Provenance *provenance : *section.provenance()) {
    if (!aligned(*provenance->kernels())) return section_error("kernel facts are not aligned");
  }
  return {};
}

}  // namespace

Status check_blob(const fb::Blob &blob, const Superblock &superblock) {
  if (blob.base() != 0) {
    return Status::error(Fault::reserved_not_zero, "blob: reserved field base is not zero");
  }
  if (blob.stored_size() > kMaxBlobSize || blob.raw_size() > kMaxBlobSize) {
    return Status::error(Fault::over_limit, "blob: over 1 GiB");
  }
  if (!placed(blob.offset(), blob.stored_size(), superblock)) {
    return Status::error(Fault::out_of_bounds, "blob: lies outside of the pack");
  }
  const bool raw = static_cast<Codec>(blob.codec()) == Codec::raw;
  if (raw && blob.stored_size() != blob.raw_size()) {
    return Status::error(Fault::out_of_bounds, "blob: stored raw, but the sizes differ");
  }
  return {};
}

Status check_root(View bytes, const Superblock &superblock, const fb::Root **out) {
  const fb::Root *root = verified<fb::Root>(bytes);
  if (root == nullptr) return root_error("not a buffer of the schema and its limits");
  if (!aligned(*root->blobs())) return root_error("blobs are not aligned");
  if (Status status = check_blobs(*root->blobs(), superblock); !status.ok()) return status;
  if (Status status = check_targets(*root, superblock); !status.ok()) return status;
  if (Status status = check_programs(*root); !status.ok()) return status;
  *out = root;
  return {};
}

Status check_section(View bytes, const fb::TargetEntry &entry, const Superblock &superblock,
                     const fb::Section **out) {
  const fb::Section *section = verified<fb::Section>(bytes);
  if (section == nullptr) return section_error("not a buffer of the schema and its limits");
  if (xxh3(section->key()->data(), section->key()->size()) != entry.key_hash()) {
    return section_error("its key does not have the hash that the root records");
  }
  if (!aligned(*section->blobs())) return section_error("blobs are not aligned");
  if (Status status = check_blobs(*section->blobs(), superblock); !status.ok()) return status;
  if (Status status = check_provenance(*section); !status.ok()) return status;
  if (Status status = check_binaries(*section); !status.ok()) return status;
  *out = section;
  return {};
}

}  // namespace kiln::packs
