// SPDX-License-Identifier: Apache-2.0
// Damage: every truncation and every flipped byte gives a fault or exactly the right bytes.
#include <algorithm>

#include "kiln/packs/find_rows.hpp"
#include "tests/packs/forge.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

// What each byte of a pack belongs to, as the fault that its damage must give.
std::vector<Code> map_of(const Bytes &bytes) {
  const PackPointer pack = opened(bytes);
  std::vector<Code> map(bytes.size(), Code::ok);  // padding
  const auto mark = [&](std::uint64_t offset, std::uint64_t size, Code fault) {
    std::fill_n(map.begin() + static_cast<std::ptrdiff_t>(offset), size, fault);
  };
  mark(0, 8, Code::bad_magic);
  mark(8, 56, Code::bad_superblock);
  mark(pack->superblock().root_offset, pack->superblock().root_size, Code::root_corrupt);
  for (const fb::Blob *blob : *pack->schema().blobs()) {
    mark(blob->offset(), blob->stored_size(), Code::blob_corrupt);
  }
  for (std::size_t i = 0; i < pack->target_count(); ++i) {
    const fb::TargetEntry &entry = *pack->schema().targets()->Get(static_cast<unsigned>(i));
    mark(entry.offset(), entry.size(), Code::section_corrupt);
    TargetRef section;
    REQUIRE(pack->target(i, &section).ok());
    for (const fb::Blob *blob : *section.schema().blobs()) {
      mark(blob->offset(), blob->stored_size(), Code::blob_corrupt);
    }
  }
  return map;
}

enum class Seen { nothing, fault, wrong };

// What a changed pack shows: the `expected` parts alone, or with `fault` in some places, or
// anything else.
Seen seen_in(const Bytes &bytes, Code fault, const Parts &expected) {
  PackPointer pack;
  if (const Status status = open(bytes, &pack); !status.ok()) {
    return status.code == fault ? Seen::fault : Seen::wrong;
  }
  Seen seen = Seen::nothing;
  for (const auto &[name, part] : parts_of(*pack)) {
    if (part == expected.at(name)) continue;
    if (part.code == Code::ok || part.code != fault) return Seen::wrong;
    seen = Seen::fault;
  }
  return seen;
}

// Walks whatever opens. The bytes have right hashes and wrong values: no answer is wrong, but
// no access may leave the pack, and each status has one of the documented faults.
void survive(const Bytes &bytes) {
  PackPointer pack;
  ProgramRefs programs;
  if (!open(bytes, &pack).ok() || !pack->programs(&programs).ok()) return;
  const Parts parts = parts_of(*pack);
  Contents contents;
  if (read_contents(pack, &contents).ok()) CHECK(contents.targets.size() == pack->target_count());
  for (const Tuning &t : contents.tunings) {
    const TuningQuery query{t.program, t.variant, t.kernel, t.size_class};
    CHECK(find_tunings(*pack, query, t.profile).count > 0);
  }
  for (const ProgramRef program : programs) {
    for (const VariantRef variant : program.variants()) {
      CHECK(variant_of(*pack, program.name(), variant.name()) == variant);
    }
  }
}

// Sets a word to values that are wrong in most places.
template <typename Rehash>
void spoil_words(const Bytes &good, std::uint64_t offset, std::uint64_t size, Rehash rehash_pack) {
  const std::uint32_t values[] = {0, 1, 4, 0x40, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff};
  for (std::uint64_t place = offset; place + 4 <= offset + size; place += 2) {
    for (const std::uint32_t value : values) {
      Bytes bytes = good;
      for (unsigned i = 0; i < 4; ++i) {
        bytes[place + i] = static_cast<std::uint8_t>(value >> (8 * i));
      }
      rehash_pack(&bytes);
      survive(bytes);
    }
  }
}

}  // namespace

TEST_CASE("a pack cut anywhere is truncated", "[corruption]") {
  const Bytes bytes = written(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    PackPointer pack;
    CHECK(open(cut, &pack).code == (length == 0 ? Code::empty : Code::truncated));
    CHECK(pack == nullptr);
  }
}

TEST_CASE("a flipped byte anywhere gives its part's fault, and no other part is wrong",
          "[corruption]") {
  Bytes bytes = written(sample());
  const std::vector<Code> map = map_of(bytes);
  const Parts expected = parts_of(*opened(bytes));
  unsigned same = 0;
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    for (const std::uint8_t mask : Bytes{0x01, 0x80, 0xff}) {
      bytes[place] ^= mask;
      const Seen seen = seen_in(bytes, map[place], expected);
      bytes[place] ^= mask;
      const bool padding = map[place] == Code::ok;
      if (seen == (padding ? Seen::nothing : Seen::fault)) continue;
      CAPTURE(place, mask, map[place]);
      REQUIRE(seen == Seen::nothing);
      REQUIRE(map[place] == Code::blob_corrupt);
      ++same;
    }
  }
  CHECK(same < 20);  // zstd has more than one frame for the same bytes
  CHECK(std::count(map.begin(), map.end(), Code::ok) > 0);  // padding is part of it
  CHECK(seen_in(bytes, Code::ok, expected) == Seen::nothing);
}

TEST_CASE("a root with right hashes and wrong words is survived", "[corruption]") {
  const Bytes good = written(sample());
  const Superblock superblock = opened(good)->superblock();
  spoil_words(good, superblock.root_offset, superblock.root_size,
              [&](Bytes *bytes) { rehash(bytes, superblock); });
}

TEST_CASE("a section with right hashes and wrong words is survived", "[corruption]") {
  const Bytes good = written(sample());
  const PackPointer pack = opened(good);
  const fb::TargetEntry *entry = pack->schema().targets()->Get(0);
  // Offset of the entry's xxh3 in the pack.
  const auto place =
      static_cast<std::size_t>(reinterpret_cast<const std::uint8_t *>(entry) - good.data()) + 24;
  spoil_words(good, entry->offset(), entry->size(), [&](Bytes *bytes) {
    const std::uint64_t hash = xxh3(bytes->data() + entry->offset(), entry->size());
    for (unsigned i = 0; i < 8; ++i) {
      (*bytes)[place + i] = static_cast<std::uint8_t>(hash >> (8 * i));
    }
    rehash(bytes, pack->superblock());
  });
}
