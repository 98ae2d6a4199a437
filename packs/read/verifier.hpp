// SPDX-License-Identifier: Apache-2.0
// Checks of untrusted bytes: whether they are a FlatBuffers buffer of pack.fbs, and whether they
// follow the rules of FORMAT.md that no schema can express.
#pragma once

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/format.hpp"
#include "kiln/packs/refs.hpp"

namespace kiln::packs {

// FlatBuffers has a verifier. It limits the number of tables, but neither the texts nor the
// elements of vectors that many tables may refer to. So a small buffer can keep it busy for hours,
// and the data read from such a buffer can fill the memory. It does not check the alignment of the
// structs in a vector, and it is eight times as much code. The verifier here walks over the buffer
// by a table of the schema's fields. Each part takes its size from a budget, the size of the
// buffer: so nothing is shared (except vtables), and the buffer's size bounds time and memory.
enum class Kind : std::uint8_t {
  number,   // `size` bytes, aligned to them; a struct has its own alignment
  text,     // ended by a zero byte
  numbers,  // vector of numbers or structs
  texts,    // vector of texts
  tables,   // vector of tables
  later     // vector of tables that are not walked over with their parent
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

// A field of a table, by its place in the schema.
struct FieldRule {
  Kind kind;
  bool required = false;
  std::uint8_t size = 0;   // of a number or an element
  std::uint8_t align = 1;  // of a number or an element
  TableKind table = TableKind::kernel;
};

struct TableRule {
  const FieldRule *fields;
  std::size_t count;
};

TableRule rule_of(TableKind table);

// Returns whether the bytes are a buffer whose root table is of the kind `root`.
bool verify_buffer(View bytes, TableKind root);

// Checks place, size and codec of a blob entry; a base must be one of the root's first `bases`
// blobs.
Status check_blob(const fb::Blob &blob, const Superblock &superblock, std::uint32_t bases);

// Checks all rules except the hash of the bytes themselves, and those of programs. `bytes` must be
// aligned to 8; `out` is set only on success and points into them. The size of `bytes` bounds the
// time and memory of later steps, whatever the bytes say.
Status check_root(View bytes, const Superblock &superblock, const fb::Root **out);
// Gets the name of program `index` of a root that passed, and checks nothing else of the program.
Status check_name(View bytes, const fb::Root &root, std::uint32_t index, std::string_view *out);
// Checks program `index`, but not whether its name is unique.
Status check_program(View bytes, const fb::Root &root, std::uint32_t index);
// Checks all programs: after this and check_root(), all rules but those of sections.
Status check_programs(View bytes, const fb::Root &root);
// `bases` is the number of the root's blobs.
Status check_section(View bytes, const fb::TargetEntry &entry, const Superblock &superblock,
                     std::uint32_t bases);

}  // namespace kiln::packs
