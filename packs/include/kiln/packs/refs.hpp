// SPDX-License-Identifier: Apache-2.0
// The contents of an open pack, as the runtime and the builder read them. References hide the
// schema's types: code outside packs/ does not name these types, so that the schema can change
// alone.
//
// A reference is one pointer into the pack (BinaryRef: two). It is copied freely, allocates nothing
// and lives as long as the pack. A null reference may only be tested, compared and assigned to.
// Texts lie in the pack with a NUL byte after them: their data() is also a C string. An absent text
// is an empty one.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "kiln/packs/argument_words.hpp"
#include "kiln/packs/format.hpp"
#include "pack_generated.h"

namespace kiln::packs {

template <typename Table>
class Ref {
 public:
  constexpr Ref() = default;
  constexpr explicit Ref(const Table *table) : table_(table) {}

  constexpr explicit operator bool() const { return table_ != nullptr; }
  friend constexpr bool operator==(Ref a, Ref b) { return a.table_ == b.table_; }
  friend constexpr bool operator!=(Ref a, Ref b) { return a.table_ != b.table_; }

  // Only for packs/ and its tests.
  constexpr const Table &schema() const { return *table_; }

 private:
  const Table *table_ = nullptr;
};

inline std::string_view text_of(const flatbuffers::String &text) {
  return {text.c_str(), text.size()};
}

// Returns the text of a field that may be absent.
inline std::string_view text_of(const flatbuffers::String *optional) {
  return optional == nullptr ? std::string_view("") : text_of(*optional);
}

inline Digest to_digest(const fb::Hash &hash) {
  Digest digest;
  std::memcpy(digest.data(), hash.bytes()->data(), digest.size());
  return digest;
}

// Compares in the order of hashes in a pack: negative, zero or positive.
inline int compare(const fb::Hash &a, const fb::Hash &b) {
  return std::memcmp(a.bytes()->data(), b.bytes()->data(), kDigestSize);
}

inline std::array<std::uint32_t, 3> to_array(const fb::Size3 &size) {
  return {size.x(), size.y(), size.z()};
}

// A vector of the schema whose elements are read as `Item`, a reference or a text. An absent vector
// is an empty one.
template <typename Item, typename Element>
class List {
 public:
  using Vector = flatbuffers::Vector<Element>;

  class Iterator {
   public:
    Iterator(List list, std::uint32_t index) : list_(list), index_(index) {}
    Item operator*() const { return list_[index_]; }
    Iterator &operator++() {
      ++index_;
      return *this;
    }
    bool operator!=(const Iterator &other) const { return index_ != other.index_; }

   private:
    List list_;
    std::uint32_t index_;
  };

  explicit List(const Vector *items = nullptr) : items_(items) {}

  std::uint32_t size() const { return items_ == nullptr ? 0 : items_->size(); }
  Item operator[](std::uint32_t index) const {
    if constexpr (std::is_same_v<Item, std::string_view>) {
      return text_of(*items_->Get(index));
    } else {
      return Item(items_->Get(index));
    }
  }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  const Vector *items_;
};

using TextRefs = List<std::string_view, flatbuffers::Offset<flatbuffers::String>>;

// Bytes that are stored in the pack; Pack::read_blob reads them.
class BlobRef : public Ref<fb::Blob> {
 public:
  using Ref::Ref;

  Digest name() const { return to_digest(schema().name()); }
  std::uint64_t offset() const { return schema().offset(); }
  std::uint64_t stored_size() const { return schema().stored_size(); }
  std::uint64_t raw_size() const { return schema().raw_size(); }
  std::uint64_t xxh3() const { return schema().xxh3(); }
  Codec codec() const { return static_cast<Codec>(schema().codec()); }  // may be an unknown number
  std::uint32_t base() const { return schema().base(); }  // number for Pack::blob(); 0: none
};

// A parameter of a kernel, with the numbers of FORMAT.md.
class ParameterRef : public Ref<fb::Parameter> {
 public:
  using Ref::Ref;

  // Numbers of texts in the pack, for text_at().
  std::uint32_t name() const { return schema().name(); }
  std::uint32_t type() const { return schema().type(); }
  std::uint32_t size() const { return schema().size(); }
  AddressSpace address_space() const { return static_cast<AddressSpace>(schema().address_space()); }
  ImageAccess access() const { return static_cast<ImageAccess>(schema().access()); }
  std::uint8_t qualifiers() const { return schema().qualifiers(); }
};

using ParameterRefs = List<ParameterRef, const fb::Parameter *>;

class KernelRef : public Ref<fb::Kernel> {
 public:
  using Ref::Ref;

  std::string_view name() const { return text_of(*schema().name()); }
  std::uint32_t arguments() const { return schema().arguments(); }
  ParameterRefs parameters() const {
    return ParameterRefs(schema().parameters());
  }  // none: unknown
};

// An argument, with the numbers of FORMAT.md.
class ArgumentRef : public Ref<fb::Argument> {
 public:
  using Ref::Ref;

  Role role() const { return static_cast<Role>(schema().role()); }
  ArgumentStorage storage() const { return static_cast<ArgumentStorage>(schema().storage()); }
  std::uint8_t channels() const { return schema().channels(); }
  ElementType type() const { return static_cast<ElementType>(schema().type()); }
  std::uint8_t stage() const { return schema().stage(); }  // index of the kernel that takes it
};

using KernelRefs = List<KernelRef, flatbuffers::Offset<fb::Kernel>>;
using ArgumentRefs = List<ArgumentRef, flatbuffers::Offset<fb::Argument>>;

class VariantRef : public Ref<fb::Variant> {
 public:
  using Ref::Ref;

  std::string_view name() const { return text_of(*schema().name()); }
  Digest hash() const { return to_digest(*schema().hash()); }
  std::string_view options() const { return text_of(*schema().options()); }
  TextRefs requirements() const { return TextRefs(schema().requirements()); }
  KernelRefs kernels() const { return KernelRefs(schema().kernels()); }
  ArgumentRefs arguments() const { return ArgumentRefs(schema().arguments()); }
  // Numbers for Pack::blob; 0: none.
  std::uint32_t source() const { return schema().source(); }
  std::uint32_t il32() const { return schema().il32(); }
  std::uint32_t il64() const { return schema().il64(); }
  std::uint32_t il_version() const { return schema().il_version(); }
  std::array<std::uint32_t, 3> local_size() const { return to_array(*schema().local_size()); }
};

using VariantRefs = List<VariantRef, flatbuffers::Offset<fb::Variant>>;

class ProgramRef : public Ref<fb::Program> {
 public:
  using Ref::Ref;

  std::string_view name() const { return text_of(*schema().name()); }
  VariantRefs variants() const { return VariantRefs(schema().variants()); }  // by name
  // Names of variants, the best guess first.
  TextRefs preferred() const { return TextRefs(schema().preferred()); }
};

using ProgramRefs = List<ProgramRef, flatbuffers::Offset<fb::Program>>;

// How a binary was made.
class ProvenanceRef : public Ref<fb::Provenance> {
 public:
  using Ref::Ref;

  Finality finality() const { return static_cast<Finality>(schema().finality()); }
  std::string_view why_not_final() const { return text_of(schema().why_not_final()); }
  std::uint64_t finish_microseconds() const { return schema().finish_microseconds(); }
  std::string_view driver() const { return text_of(schema().driver()); }
  // What the results were equal to; empty: nothing was compared.
  std::string_view proof() const { return text_of(schema().proof()); }
  std::string_view build_log() const { return text_of(schema().build_log()); }
};

// A binary or an intermediate of a target.
struct BinaryRef {
  BlobRef blob;
  ProvenanceRef provenance;

  explicit operator bool() const { return static_cast<bool>(blob); }
};

using Entries = flatbuffers::Vector<const fb::Binary *>;

// A target; the schema calls it a section.
class TargetRef : public Ref<fb::Section> {
 public:
  using Ref::Ref;

  std::string_view key() const { return text_of(*schema().key()); }
  std::string_view profile() const { return text_of(*schema().profile()); }
  std::string_view family() const { return text_of(*schema().family()); }
  // Returns a fact of the identity ("driver_version").
  std::string_view fact(std::string_view name) const;

  // Looks up by the variant's hash; null if the target has none.
  BinaryRef find_binary(const Digest &variant) const;
  BinaryRef find_intermediate(const Digest &variant) const;
  BlobRef find_cache_entries(const Digest &variant) const;

  // Give every blob of cache entries, for any variant.
  std::uint32_t cache_entries_count() const;
  BlobRef cache_entries(std::uint32_t index) const;
};

// A measured work-group size, or the time of a whole variant.
class TuningRef : public Ref<fb::Tuning> {
 public:
  using Ref::Ref;

  // Numbers of texts in the pack, as from find_text().
  std::uint32_t variant() const { return schema().variant(); }
  std::uint32_t family() const { return schema().family(); }
  std::uint32_t model() const { return schema().model(); }
  std::uint64_t key_hash() const { return schema().key_hash(); }  // XXH3-64 of the device's key
  std::uint64_t nanoseconds() const { return schema().nanoseconds(); }
  std::uint32_t samples() const { return schema().samples(); }
  std::uint32_t spread() const { return schema().spread(); }
  std::array<std::uint32_t, 3> local_size() const { return to_array(schema().local_size()); }
};

// A known-bad note.
class KnownBadRef : public Ref<fb::KnownBad> {
 public:
  using Ref::Ref;

  // Returns the number of a text in the pack, for text_at().
  std::uint32_t text(std::uint32_t which) const { return schema().texts()->Get(which); }
  std::uint32_t rungs() const { return schema().rungs(); }
};

using KnownBadRefs = List<KnownBadRef, const fb::KnownBad *>;

}  // namespace kiln::packs
