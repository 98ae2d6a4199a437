// SPDX-License-Identifier: Apache-2.0
// The table of the schema's fields, the walk over a buffer by this table, and checks of order,
// places, indices and sizes in roots and sections that passed.
#include "packs/read/verifier.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "kiln/packs/argument_words.hpp"
#include "kiln/packs/bytes.hpp"
#include "pack_generated.h"

namespace kiln::packs {

namespace {

constexpr bool kRequired = true;

// Aligns a number to its size, even if the machine demands less.
template <typename T>
constexpr std::uint8_t kAlign = std::is_arithmetic<T>::value ? sizeof(T) : alignof(T);

template <typename T>
constexpr FieldRule number(bool required = false) {
  return {Kind::number, required, sizeof(T), kAlign<T>};
}

template <typename T>
constexpr FieldRule numbers(bool required = false) {
  return {Kind::numbers, required, sizeof(T), kAlign<T>};
}

constexpr FieldRule text(bool required = false) { return {Kind::text, required}; }
constexpr FieldRule texts(bool required = false) { return {Kind::texts, required, 4, 4}; }
constexpr FieldRule tables(TableKind table, bool required = false) {
  return {Kind::tables, required, 4, 4, table};
}

// In the order of pack.fbs.
constexpr FieldRule kKernel[] = {text(kRequired), number<std::uint32_t>(), text(),
                                 numbers<fb::Parameter>()};
constexpr FieldRule kArgument[] = {number<std::uint8_t>(),
                                   number<std::uint8_t>(),
                                   number<std::uint8_t>(),
                                   text(kRequired),
                                   number<std::int64_t>(),
                                   number<std::uint8_t>(),
                                   number<std::uint8_t>(),
                                   number<std::uint8_t>(),
                                   text(),
                                   numbers<double>(),
                                   text()};
constexpr FieldRule kVariant[] = {text(kRequired),
                                  number<fb::Hash>(kRequired),
                                  text(kRequired),
                                  texts(kRequired),
                                  tables(TableKind::kernel, kRequired),
                                  number<std::uint32_t>(),
                                  number<std::uint32_t>(),
                                  number<std::uint32_t>(),
                                  number<std::uint32_t>(),
                                  number<fb::Size3>(kRequired),
                                  number<fb::Size3>(kRequired),
                                  tables(TableKind::argument, kRequired),
                                  number<double>(),
                                  number<std::uint32_t>(),
                                  numbers<fb::Statistic>(),
                                  numbers<fb::Size3>(),
                                  texts()};
constexpr FieldRule kProgram[] = {
    text(kRequired), text(kRequired), tables(TableKind::variant, kRequired),
    texts(),         text(),          numbers<fb::Size3>()};
constexpr FieldRule kRoot[] = {numbers<fb::TargetEntry>(kRequired),
                               {Kind::later, kRequired, 4, 4, TableKind::program},
                               numbers<fb::Blob>(kRequired),
                               text(kRequired),
                               numbers<std::uint8_t>(),
                               numbers<fb::Tuning>(),
                               texts(),
                               numbers<fb::KnownBad>(),
                               number<std::uint32_t>(),
                               numbers<fb::Hash>()};
constexpr FieldRule kFact[] = {text(kRequired), text(kRequired)};
constexpr FieldRule kProvenance[] = {text(kRequired),
                                     numbers<fb::KernelFacts>(kRequired),
                                     number<std::uint8_t>(),
                                     text(),
                                     text(),
                                     number<std::uint64_t>(),
                                     number<std::uint64_t>(),
                                     text(),
                                     numbers<fb::Size3>(),
                                     text(),
                                     text(),
                                     numbers<fb::Statistic>(),
                                     text(),
                                     text(),
                                     text()};
constexpr FieldRule kSection[] = {text(kRequired),
                                  text(kRequired),
                                  text(kRequired),
                                  text(kRequired),
                                  text(kRequired),
                                  tables(TableKind::fact, kRequired),
                                  numbers<fb::Binary>(kRequired),
                                  tables(TableKind::provenance, kRequired),
                                  numbers<fb::Blob>(kRequired),
                                  numbers<fb::Binary>(),
                                  tables(TableKind::provenance),
                                  numbers<fb::Binary>()};

class Walk {
 public:
  explicit Walk(View bytes) : bytes_(bytes), left_(bytes.size) {}

  bool root(TableKind kind) { return table_at(0, rule_of(kind)); }

  // Follows the offset that lies at a place of the buffer.
  bool table_at(std::uint64_t field, const TableRule &rule) {
    std::uint64_t at = 0;
    return follow(field, &at) && table(at, rule);
  }

 private:
  bool inside(std::uint64_t at, std::uint64_t size, std::uint64_t align) const {
    return at % align == 0 && size <= bytes_.size && at <= bytes_.size - size;
  }

  bool take(std::uint64_t size) {
    if (size > left_) return false;
    left_ -= size;
    return true;
  }

  // Reads a value at a place that is inside.
  template <typename T>
  T get(std::uint64_t at) const {
    return flatbuffers::ReadScalar<T>(bytes_.data + at);
  }

  bool follow(std::uint64_t at, std::uint64_t *to) const {
    if (!inside(at, sizeof(std::uint32_t), sizeof(std::uint32_t))) return false;
    const auto offset = get<std::uint32_t>(at);
    *to = at + offset;
    return offset != 0 && offset <= 0x7fffffff;
  }

  // Sets `*at` to the first of `*count` elements.
  bool vector(std::uint64_t field, const FieldRule &rule, std::uint64_t *at, std::uint32_t *count) {
    if (!follow(field, at) || !inside(*at, sizeof(*count), sizeof(*count))) return false;
    *count = get<std::uint32_t>(*at);
    *at += sizeof(*count);
    const std::uint64_t size = std::uint64_t{*count} * rule.size;
    return inside(*at, size, size == 0 ? 1 : rule.align) && take(sizeof(*count) + size);
  }

  bool text(std::uint64_t field) {
    static constexpr FieldRule kBytes = {Kind::numbers, false, 1, 1};
    std::uint64_t at = 0;
    std::uint32_t count = 0;
    return vector(field, kBytes, &at, &count) && inside(at + count, 1, 1) &&
           bytes_.data[at + count] == 0 && take(1);
  }

  bool value(std::uint64_t at, const FieldRule &rule) {
    if (rule.kind == Kind::number) return inside(at, rule.size, rule.align);
    if (rule.kind == Kind::text) return text(at);
    std::uint32_t count = 0;
    if (!vector(at, rule, &at, &count)) return false;
    if (rule.kind == Kind::numbers || rule.kind == Kind::later) return true;
    for (; count != 0; --count, at += rule.size) {
      if (rule.kind == Kind::texts ? !text(at) : !table_at(at, rule_of(rule.table))) return false;
    }
    return true;
  }

  bool table(std::uint64_t at, const TableRule &rule) {
    if (!inside(at, sizeof(std::int32_t), sizeof(std::int32_t)) || !take(sizeof(std::int32_t))) {
      return false;
    }
    // A place before the buffer wraps to a very large number.
    const std::uint64_t vtable =
        at - static_cast<std::uint64_t>(std::int64_t{get<std::int32_t>(at)});
    if (!inside(vtable, sizeof(std::uint16_t), sizeof(std::uint16_t))) return false;
    const auto size = get<std::uint16_t>(vtable);
    if (!inside(vtable, size, 1) || size % sizeof(std::uint16_t) != 0) return false;
    std::uint64_t place = vtable + 2 * sizeof(std::uint16_t);  // after both sizes
    for (std::size_t i = 0; i < rule.count; ++i, place += sizeof(std::uint16_t)) {
      const bool there = place + sizeof(std::uint16_t) <= vtable + size;
      const std::uint16_t offset = there ? get<std::uint16_t>(place) : 0;
      if (offset == 0 ? rule.fields[i].required : !value(at + offset, rule.fields[i])) return false;
    }
    return true;
  }

  View bytes_;
  std::uint64_t left_;
};

template <std::size_t N>
constexpr TableRule rule(const FieldRule (&fields)[N]) {
  return {fields, N};
}

using TextVector = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

bool placed(std::uint64_t offset, std::uint64_t size, const Superblock &superblock) {
  return offset >= kSuperblockSize && offset % kAlignment == 0 && offset <= superblock.pack_size &&
         size <= superblock.pack_size - offset;
}

// Out of line: hot functions have many such calls, and normally none is taken.
[[gnu::noinline, gnu::cold]] Status fault(Code what, const char *text) {
  return Status::error(what, text);
}

[[gnu::noinline, gnu::cold]] Status root_error(std::string_view what) {
  return Status::error(Code::root_malformed, {"root: ", what});
}

[[gnu::noinline, gnu::cold]] Status section_error(const char *what) {
  return Status::error(Code::section_malformed, {"section: ", what});
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

// The root's texts. Rows may share them, but not very long ones.
class SharedTexts {
 public:
  SharedTexts(const TextVector *texts, std::size_t root_size)
      : texts_(texts), left_(root_size * kMaxSharing) {}

  // Checks an index, and counts the text's size. Out of line: it has three callers.
  [[gnu::noinline]] Status take(std::uint32_t index) {
    if (texts_ == nullptr || index >= texts_->size()) {
      return fault(Code::out_of_bounds, "root: text index out of range");
    }
    const std::size_t size = texts_->Get(index)->size();
    if (size > left_) return fault(Code::over_limit, "root: rows share long texts");
    left_ -= size;
    return {};
  }

 private:
  static constexpr std::size_t kMaxSharing = 16;

  const TextVector *texts_;
  std::size_t left_;
};

Status check_parameters(const fb::Kernel &kernel, SharedTexts *texts) {
  const auto *parameters = kernel.parameters();
  if (parameters == nullptr || parameters->size() == 0) return {};
  if (parameters->size() != kernel.arguments()) {
    return root_error("not one parameter per argument");
  }
  static_assert(std::size(kAddressSpaceNames) == 4 && std::size(kImageAccessNames) == 4 &&
                std::size(kQualifierNames) == 4);
  for (const fb::Parameter *row : *parameters) {
    Status status = texts->take(row->name());
    if (status.ok()) status = texts->take(row->type());
    if (!status.ok()) return status;
    if ((row->address_space() | row->access()) > 3 || row->qualifiers() > 15) {
      return root_error("unknown kind of a parameter");
    }
    if (row->reserved() != 0) {
      return fault(Code::reserved_not_zero, "root: reserved field of a row is not zero");
    }
  }
  return {};
}

// Kernels keep the manifest's order, so their names are sorted in a copy.
bool kernels_named(const fb::Variant &variant) {
  if (variant.kernels()->size() == 1) return is_name(*variant.kernels()->Get(0)->name());
  std::vector<std::string_view> names;
  names.reserve(variant.kernels()->size());
  for (const fb::Kernel *kernel : *variant.kernels()) {
    if (!is_name(*kernel->name())) return false;
    names.push_back(view(*kernel->name()));
  }
  sort_names(&names);
  return std::adjacent_find(names.begin(), names.end()) == names.end();
}

bool has_zero(const fb::Size3 &size) { return size.x() == 0 || size.y() == 0 || size.z() == 0; }

Status check_variant(const fb::Variant &variant, std::size_t blobs, SharedTexts *texts) {
  const auto fault = [&](Code what, const char *why) {
    return Status::error(what, {"root: variant ", view(*variant.name()), ": ", why});
  };
  if (variant.kernels()->size() == 0) return fault(Code::root_malformed, "no kernel");
  if (!kernels_named(variant)) {
    return fault(Code::root_malformed, "kernel names are not unique names");
  }
  for (const fb::Kernel *kernel : *variant.kernels()) {
    if (Status status = check_parameters(*kernel, texts); !status.ok()) return status;
  }
  for (const std::uint32_t index :
       {variant.source(), variant.il32(), variant.il64(), variant.launches()}) {
    if (index > blobs) return fault(Code::out_of_bounds, "blob index out of range");
  }
  for (const fb::Argument *argument : *variant.arguments()) {
    if (argument->role() >= std::size(kRoleNames) ||
        argument->storage() >= std::size(kStorageNames) ||
        argument->type() >= std::size(kTypeNames)) {
      return fault(Code::root_malformed, "unknown role, storage or type of an argument");
    }
    if (static_cast<ArgumentStorage>(argument->storage()) == ArgumentStorage::local &&
        static_cast<Role>(argument->role()) != Role::scratch) {
      return fault(Code::root_malformed, "an argument in local memory that is not scratch");
    }
    if (static_cast<Role>(argument->role()) == Role::sampler &&
        !ArgumentSampler::is_sampler(argument->value())) {
      return fault(Code::root_malformed, "unknown kind of a sampler");
    }
    if (argument->stage() >= variant.kernels()->size()) {
      return fault(Code::root_malformed, "an argument of no kernel");
    }
  }
  if (variant.local_sizes() != nullptr) {
    for (const fb::Size3 *size : *variant.local_sizes()) {
      if (has_zero(*size)) return fault(Code::root_malformed, "a work-group size is 0");
    }
  }
  if (!(variant.tolerance() >= 0)) return fault(Code::root_malformed, "bad tolerance");
  return {};
}

// The place of the offset to program `index`.
std::uint64_t place_of(View bytes, const fb::Root &root, std::uint32_t index) {
  const auto begin = static_cast<std::uint64_t>(root.programs()->Data() - bytes.data);
  return begin + std::uint64_t{index} * sizeof(std::uint32_t);
}

Status no_buffer() { return root_error("not a buffer of the schema"); }

Status check_program(const fb::Program &program, const fb::Root &root, SharedTexts *texts) {
  const std::string_view name = view(*program.name());
  if (!is_name(*program.name())) return root_error("a program's name is not a name");
  if (program.variants()->size() > kMaxPrograms) {
    return Status::error(Code::over_limit, {"root: over 65,536 variants in program ", name});
  }
  if (!names_rise(*program.variants())) {
    return Status::error(Code::root_malformed,
                         {"root: variant names of program ", name, " are not sorted and unique"});
  }
  for (const fb::Variant *variant : *program.variants()) {
    Status status = check_variant(*variant, root.blobs()->size(), texts);
    if (!status.ok()) return status;
  }
  return {};
}

Status check_targets(const fb::Root &root, const Superblock &superblock) {
  if (root.targets()->size() > kMaxTargets) {
    return fault(Code::over_limit, "root: over 1,048,576 targets");
  }
  const fb::TargetEntry *previous = nullptr;
  std::uint64_t left = superblock.pack_size;  // sections do not share bytes
  for (const fb::TargetEntry *entry : *root.targets()) {
    if (entry->size() > kMaxSectionSize) {
      return fault(Code::over_limit, "root: a section is over 64 MiB");
    }
    if (entry->size() == 0 || !placed(entry->offset(), entry->size(), superblock)) {
      return fault(Code::out_of_bounds, "root: a section lies outside of the pack");
    }
    const bool rises =
        previous == nullptr || previous->key_hash() < entry->key_hash() ||
        (previous->key_hash() == entry->key_hash() && compare(previous->name(), entry->name()) < 0);
    if (!rises) return root_error("targets are not sorted and unique");
    if (entry->size() > left) return fault(Code::over_limit, "root: sections overlap");
    left -= entry->size();
    previous = entry;
  }
  return {};
}

// Texts must rise strictly: then their indices compare as they do.
bool texts_rise(const TextVector &texts) {
  const flatbuffers::String *previous = nullptr;
  for (const flatbuffers::String *text : texts) {
    if (view(*text).find('\0') != std::string_view::npos) return false;
    if (previous != nullptr && !(*previous < *text)) return false;
    previous = text;
  }
  return true;
}

// Returns whether `b` may come after `a`, by a row's subject and then by the place of measurement.
bool tunings_rise(const fb::Tuning &a, const fb::Tuning &b) {
  const std::uint32_t of_a[] = {a.program(), a.variant(), a.kernel(), a.size_class(),
                                a.profile(), a.family(),  a.model()};
  const std::uint32_t of_b[] = {b.program(), b.variant(), b.kernel(), b.size_class(),
                                b.profile(), b.family(),  b.model()};
  for (std::size_t i = 0; i < std::size(of_a); ++i) {
    if (of_a[i] != of_b[i]) return of_a[i] < of_b[i];
  }
  return a.key_hash() < b.key_hash();
}

// `named` is the index of the first text that is not empty.
Status check_tuning(const fb::Tuning &row, SharedTexts *texts, std::uint32_t named) {
  for (const std::uint32_t text : {row.program(), row.variant(), row.kernel(), row.profile(),
                                   row.family(), row.model(), row.conditions()}) {
    if (Status status = texts->take(text); !status.ok()) return status;
  }
  if (row.program() < named || row.variant() < named) {
    return root_error("a tuning without a program or variant");
  }
  if (row.size_class() >= kSizeClasses) return root_error("unknown size class of a tuning");
  if (has_zero(row.local_size())) return root_error("a tuned size is 0");
  const bool located = row.family() >= named || row.model() >= named || row.key_hash() != 0;
  if (located && row.profile() < named) return root_error("a tuning's device has no profile");
  if (row.reserved() == 0) return {};
  return fault(Code::reserved_not_zero, "root: reserved field of a row is not zero");
}

Status check_tunings(const fb::Root &root, SharedTexts *texts) {
  const std::size_t count = root.tunings() == nullptr ? 0 : root.tunings()->size();
  if (root.tuned_variants() != nullptr && root.tuned_variants()->size() != count) {
    return root_error("tunings and the hashes of their variants differ in number");
  }
  if (count == 0) return {};
  if (root.tunings()->size() > kMaxTunings) {
    return fault(Code::over_limit, "root: over 262,144 tunings");
  }
  const TextVector *all = root.texts();
  const bool has_empty = all != nullptr && all->size() != 0 && all->Get(0)->size() == 0;
  const fb::Tuning *previous = nullptr;
  for (const fb::Tuning *row : *root.tunings()) {
    if (Status status = check_tuning(*row, texts, has_empty ? 1 : 0); !status.ok()) return status;
    if (previous != nullptr && !tunings_rise(*previous, *row)) {
      return root_error("tunings are not sorted and unique");
    }
    previous = row;
  }
  return {};
}

Status check_known_bad(const fb::Root &root, SharedTexts *texts) {
  if (root.known_bad() == nullptr) return {};
  for (const fb::KnownBad *note : *root.known_bad()) {
    for (const std::uint32_t text : *note->texts()) {
      if (Status status = texts->take(text); !status.ok()) return status;
    }
  }
  return {};
}

Status check_blobs(const flatbuffers::Vector<const fb::Blob *> &blobs, const Superblock &superblock,
                   std::uint32_t bases) {
  for (const fb::Blob *blob : blobs) {
    if (Status status = check_blob(*blob, superblock, bases); !status.ok()) return status;
  }
  return {};
}

// The base of a root's blob precedes that blob, so that none is its own base in the end.
Status check_root_blobs(const flatbuffers::Vector<const fb::Blob *> &blobs,
                        const Superblock &superblock) {
  for (std::uint32_t i = 0; i < blobs.size(); ++i) {
    if (Status s = check_blob(*blobs.Get(i), superblock, i); !s.ok()) return s;
  }
  return {};
}

Status check_entries(const fb::Section &section, const Entries *entries, const char *unsorted) {
  const fb::Binary *previous = nullptr;
  if (entries == nullptr) return {};
  for (const fb::Binary *binary : *entries) {
    if (binary->reserved() != 0) {
      return fault(Code::reserved_not_zero, "section: reserved field is not zero");
    }
    if (binary->blob() >= section.blobs()->size()) {
      return fault(Code::out_of_bounds, "section: blob index out of range");
    }
    if (previous != nullptr && compare(previous->variant(), binary->variant()) >= 0) {
      return section_error(unsorted);
    }
    previous = binary;
  }
  return {};
}

Status check_binaries(const fb::Section &section) {
  if (Status s = check_entries(section, section.binaries(), "binaries are not sorted and unique");
      !s.ok()) {
    return s;
  }
  if (Status s = check_entries(section, section.intermediates(),
                               "intermediates are not sorted and unique");
      !s.ok()) {
    return s;
  }
  return check_entries(section, section.cache_entries(), "cache entries are not sorted and unique");
}

using Provenances = flatbuffers::Vector<flatbuffers::Offset<fb::Provenance>>;

Status check_provenance(const Entries *entries, const Provenances *provenances) {
  if ((entries == nullptr ? 0 : entries->size()) !=
      (provenances == nullptr ? 0 : provenances->size())) {
    return section_error("not one provenance per binary");
  }
  if (provenances == nullptr) return {};
  for (const fb::Provenance *provenance : *provenances) {
    if (provenance->finality() > static_cast<std::uint8_t>(Finality::no)) {
      return section_error("unknown finality");
    }
  }
  return {};
}

Status check_provenance(const fb::Section &section) {
  Status status = check_provenance(section.binaries(), section.provenance());
  if (!status.ok()) return status;
  return check_provenance(section.intermediates(), section.intermediate_provenance());
}

}  // namespace

TableRule rule_of(TableKind table) {
  static const TableRule rules[] = {rule(kKernel),     rule(kArgument), rule(kVariant),
                                    rule(kProgram),    rule(kRoot),     rule(kFact),
                                    rule(kProvenance), rule(kSection)};
  return rules[static_cast<std::size_t>(table)];
}

bool verify_buffer(View bytes, TableKind root) { return Walk(bytes).root(root); }

Status check_blob(const fb::Blob &blob, const Superblock &superblock, std::uint32_t bases) {
  const auto codec = static_cast<Codec>(blob.codec());
  const bool based = (superblock.incompat & kIncompatBases) != 0 && codec == Codec::based;
  if (!based && blob.base() != 0) {
    return fault(Code::reserved_not_zero, "blob: reserved field base is not zero");
  }
  if (based && blob.base() - 1 >= bases) {  // 0: none
    return fault(Code::out_of_bounds, "blob: its base is missing or stands behind it");
  }
  if (blob.stored_size() > kMaxBlobSize || blob.raw_size() > kMaxBlobSize) {
    return fault(Code::over_limit, "blob: over 1 GiB");
  }
  if (!placed(blob.offset(), blob.stored_size(), superblock)) {
    return fault(Code::out_of_bounds, "blob: lies outside of the pack");
  }
  if (codec == Codec::raw && blob.stored_size() != blob.raw_size()) {
    return fault(Code::out_of_bounds, "blob: stored raw, but the sizes differ");
  }
  return {};
}

Status check_root(View bytes, const Superblock &superblock, const fb::Root **out) {
  if (!verify_buffer(bytes, TableKind::root)) return no_buffer();
  const auto *root = flatbuffers::GetRoot<fb::Root>(bytes.data);
  if (Status status = check_root_blobs(*root->blobs(), superblock); !status.ok()) return status;
  if (Status status = check_targets(*root, superblock); !status.ok()) return status;
  if (root->texts() != nullptr && !texts_rise(*root->texts())) {
    return root_error("texts are not sorted and unique");
  }
  if (root->programs()->size() > kMaxPrograms) {
    return fault(Code::over_limit, "root: over 65,536 programs");
  }
  SharedTexts texts(root->texts(), bytes.size);
  if (Status status = check_tunings(*root, &texts); !status.ok()) return status;
  if (Status status = check_known_bad(*root, &texts); !status.ok()) return status;
  *out = root;
  return {};
}

Status check_name(View bytes, const fb::Root &root, std::uint32_t index, std::string_view *out) {
  static constexpr TableRule kName = {kProgram, 1};  // its first field
  if (!Walk(bytes).table_at(place_of(bytes, root, index), kName)) return no_buffer();
  *out = view(*root.programs()->Get(index)->name());
  return {};
}

Status check_program(View bytes, const fb::Root &root, std::uint32_t index) {
  if (!Walk(bytes).table_at(place_of(bytes, root, index), rule_of(TableKind::program))) {
    return no_buffer();
  }
  SharedTexts texts(root.texts(), bytes.size);
  return check_program(*root.programs()->Get(index), root, &texts);
}

Status check_programs(View bytes, const fb::Root &root) {
  Walk walk(bytes);
  for (std::uint32_t i = 0; i < root.programs()->size(); ++i) {
    if (!walk.table_at(place_of(bytes, root, i), rule_of(TableKind::program))) return no_buffer();
  }
  if (!names_rise(*root.programs())) return root_error("program names are not sorted and unique");
  SharedTexts texts(root.texts(), bytes.size);
  for (const fb::Program *program : *root.programs()) {
    if (Status status = check_program(*program, root, &texts); !status.ok()) return status;
  }
  return {};
}

Status check_section(View bytes, const fb::TargetEntry &entry, const Superblock &superblock,
                     std::uint32_t bases) {
  if (!verify_buffer(bytes, TableKind::section)) return section_error("not a buffer of the schema");
  const auto *section = flatbuffers::GetRoot<fb::Section>(bytes.data);
  if (xxh3(text_of(*section->key())) != entry.key_hash()) {
    return section_error("its key does not have the hash that the root records");
  }
  if (Status status = check_blobs(*section->blobs(), superblock, bases); !status.ok())
    return status;
  if (Status status = check_provenance(*section); !status.ok()) return status;
  return check_binaries(*section);
}

}  // namespace kiln::packs
