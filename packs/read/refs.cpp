// SPDX-License-Identifier: Apache-2.0
// Look-ups by binary search in a section's entries.
#include "kiln/packs/refs.hpp"

#include "packs/read/partition_point.hpp"

namespace kiln::packs {
namespace {

// Returns the index of a variant's entry in a section's entries, which are sorted by the variant's
// hash, or the number of entries if there is none. `entries` may be null.
std::uint32_t find_entry(const Entries *entries, const Digest &variant) {
  const std::uint32_t size = entries == nullptr ? 0 : entries->size();
  const auto order = [&](std::uint32_t i) {
    return std::memcmp(entries->Get(i)->variant().bytes()->data(), variant.data(), kDigestSize);
  };
  const std::uint32_t i = partition_point(0, size, [&](std::uint32_t at) { return order(at) < 0; });
  return i < size && order(i) == 0 ? i : size;
}

BlobRef blob_of(const fb::Section &section, const fb::Binary &entry) {
  return BlobRef(section.blobs()->Get(entry.blob()));
}

BinaryRef find_made(const fb::Section &section, const Entries *entries,
                    const flatbuffers::Vector<flatbuffers::Offset<fb::Provenance>> *provenances,
                    const Digest &variant) {
  const std::uint32_t i = find_entry(entries, variant);
  if (entries == nullptr || i == entries->size()) return {};
  return {blob_of(section, *entries->Get(i)), ProvenanceRef(provenances->Get(i))};
}

}  // namespace

std::string_view TargetRef::fact(std::string_view name) const {
  for (const fb::Fact *fact : *schema().identity()) {
    if (text_of(*fact->name()) == name) return text_of(*fact->value());
  }
  return text_of(nullptr);
}

BinaryRef TargetRef::find_binary(const Digest &variant) const {
  return find_made(schema(), schema().binaries(), schema().provenance(), variant);
}

BinaryRef TargetRef::find_intermediate(const Digest &variant) const {
  return find_made(schema(), schema().intermediates(), schema().intermediate_provenance(), variant);
}

BlobRef TargetRef::find_cache_entries(const Digest &variant) const {
  const Entries *entries = schema().cache_entries();
  const std::uint32_t i = find_entry(entries, variant);
  return i < cache_entries_count() ? cache_entries(i) : BlobRef();
}

std::uint32_t TargetRef::cache_entries_count() const {
  return schema().cache_entries() == nullptr ? 0 : schema().cache_entries()->size();
}

BlobRef TargetRef::cache_entries(std::uint32_t index) const {
  return blob_of(schema(), *schema().cache_entries()->Get(index));
}

}  // namespace kiln::packs
