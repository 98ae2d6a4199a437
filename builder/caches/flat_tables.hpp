// SPDX-License-Identifier: Apache-2.0
// FlatBuffers of other programs, read by what is known of their tables and written again with all
// that was in them. A table is kept field by field, in the order of its slots: code that flatc
// makes of a schema would drop a field that the schema lacks, and say nothing. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/bytes.hpp"

namespace kiln::builder {

enum class FlatKind { text, bytes, words, word, tables };  // a word has 32 bits

struct FlatShape;

struct FlatField {
  FlatKind kind;
  const FlatShape *shape = nullptr;  // of the tables
};

// What a table may have in its slots.
struct FlatShape {
  std::span<const FlatField> fields;
};

struct FlatTable;

struct FlatValue {
  bool present = false;
  std::string_view bytes;         // of whatever is no table, little-endian; not owned
  std::vector<FlatTable> tables;  // of FlatKind::tables
};

// One value for each field of its shape.
struct FlatTable {
  std::vector<FlatValue> fields;
};

// The root table; its values lie in `file`. Fails with Code::bad_input where anything leads out of
// the file, and where a table has fields that its shape lacks.
Result<FlatTable> read_flat_tables(packs::View file, const FlatShape &shape);

// The file. Fails with Code::bad_input if it would be larger than a cache's file may be.
Result<std::string> flat_tables(const FlatTable &root, const FlatShape &shape);

}  // namespace kiln::builder
