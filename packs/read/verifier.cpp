// SPDX-License-Identifier: Apache-2.0
// The table of the schema's fields, and the walk over a buffer by it.
#include "packs/read/verifier.hpp"

#include <type_traits>

#include "pack_generated.h"

namespace kiln::packs {
namespace {

constexpr bool kRequired = true;

// Of a number its size, whatever the machine is content with.
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
constexpr FieldRule kKernel[] = {text(kRequired), number<std::uint32_t>(), text()};
constexpr FieldRule kArgument[] = {
    number<std::uint8_t>(), number<std::uint8_t>(), number<std::uint8_t>(),
    text(kRequired),        number<std::int64_t>(), number<std::uint8_t>(),
    number<std::uint8_t>(), number<std::uint8_t>(), text(),
    numbers<double>()};
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
                                  number<std::uint32_t>()};
constexpr FieldRule kProgram[] = {
    text(kRequired), text(kRequired), tables(TableKind::variant, kRequired),
    texts(),         text(),          numbers<fb::Size3>()};
constexpr FieldRule kRoot[] = {numbers<fb::TargetEntry>(kRequired),
                               tables(TableKind::program, kRequired),
                               numbers<fb::Blob>(kRequired),
                               text(kRequired),
                               numbers<fb::CrossCheck>(),
                               numbers<fb::Tuning>(),
                               texts()};
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

  bool root(TableKind kind) {
    std::uint64_t at = 0;
    return follow(0, &at) && table(at, kind);
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

  // Of a place that is inside.
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
    if (rule.kind == Kind::numbers) return true;
    for (; count != 0; --count, at += rule.size) {
      if (rule.kind == Kind::texts ? !text(at) : !table_at(at, rule.table)) return false;
    }
    return true;
  }

  bool table_at(std::uint64_t field, TableKind kind) {
    std::uint64_t at = 0;
    return follow(field, &at) && table(at, kind);
  }

  bool table(std::uint64_t at, TableKind kind) {
    if (!inside(at, sizeof(std::int32_t), sizeof(std::int32_t)) || !take(sizeof(std::int32_t))) {
      return false;
    }
    // Before the buffer it is a very large number.
    const std::uint64_t vtable =
        at - static_cast<std::uint64_t>(std::int64_t{get<std::int32_t>(at)});
    if (!inside(vtable, sizeof(std::uint16_t), sizeof(std::uint16_t))) return false;
    const auto size = get<std::uint16_t>(vtable);
    if (!inside(vtable, size, 1) || size % sizeof(std::uint16_t) != 0) return false;
    const TableRule rule = rule_of(kind);
    std::uint64_t place = vtable + 2 * sizeof(std::uint16_t);  // behind both sizes
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

}  // namespace

TableRule rule_of(TableKind table) {
  static const TableRule rules[] = {rule(kKernel),     rule(kArgument), rule(kVariant),
                                    rule(kProgram),    rule(kRoot),     rule(kFact),
                                    rule(kProvenance), rule(kSection)};
  return rules[static_cast<std::size_t>(table)];
}

bool verify_buffer(View bytes, TableKind root) { return Walk(bytes).root(root); }

}  // namespace kiln::packs
