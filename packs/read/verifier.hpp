// SPDX-License-Identifier: Apache-2.0
// Checks of untrusted bytes: whether they are a FlatBuffers buffer of pack.fbs, and whether they
// keep the rules of FORMAT.md that no schema can say.
#pragma once

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/format.hpp"
#include "kiln/packs/refs.hpp"

namespace kiln::packs {

// FlatBuffers brings a verifier. It limits the number of tables, and neither the texts nor the
// elements of vectors that many tables may refer to, so that a small buffer can keep it busy for
// hours, and what was read from it can fill the memory; it does not look at the alignment of the
// structs in a vector; and it is eight times as much code. This one walks over the buffer by a
// table of the schema's fields. Each part takes its size from a budget, which is the size of the
// buffer: so nothing is shared (but vtables), and time and memory are bounded by the buffer's size.
enum class Kind : std::uint8_t {
  number,   // `size` bytes, aligned to them; a struct has an alignment of its own
  text,     // ended by a zero byte
  numbers,  // vector of numbers or structs
  texts,    // vector of texts
  tables    // vector of tables
};

enum class TableKind : std::uint8_t {
  kernel,
  argument,
  variant,
  program,
  root,
  fact,
  provenance,
  section
};

// A field of a table, at its place in the schema.
struct FieldRule {
  Kind kind;
  bool required = false;
  std::uint8_t size = 0;   // of a number or an element
  std::uint8_t align = 1;  // of the same
  TableKind table = TableKind::kernel;
};

struct TableRule {
  const FieldRule *fields;
  std::size_t count;
};

TableRule rule_of(TableKind table);

// `root` is the kind of the table that the buffer is of.
bool verify_buffer(View bytes, TableKind root);

// Place, size and codec rules of a blob entry, whose base is one of the root's first `bases` blobs.
Status check_blob(const fb::Blob &blob, const Superblock &superblock, std::uint32_t bases);

// All rules but the hash of the bytes themselves. `bytes` must be aligned to 8; `out` is set
// on success only and points into them. The time and the memory that follow are bounded by their
// size, whatever they say. The writer holds what it writes against these, too.
Status check_root(View bytes, const Superblock &superblock, const fb::Root **out);
// `bases` is the number of the root's blobs.
Status check_section(View bytes, const fb::TargetEntry &entry, const Superblock &superblock,
                     std::uint32_t bases);

}  // namespace kiln::packs
