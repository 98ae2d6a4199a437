// SPDX-License-Identifier: Apache-2.0
// Checks by FlatBuffers' own verifier, and writes by its builder.
#include "builder/caches/flat_tables.hpp"

#include <cstring>

#include <flatbuffers/flatbuffers.h>

#include "builder/caches/cache_files.hpp"

namespace kiln::builder {
namespace {

namespace fb = flatbuffers;

constexpr fb::uoffset_t kFlatDepth = 16;
// A table has at least its vtable's offset, and is named by an offset. Fewer bytes for each mean
// that one is named many times, which no writer does and which could go on for ever.
constexpr std::size_t kLeastTable = 8;

fb::voffset_t slot_of(std::size_t field) {
  return static_cast<fb::voffset_t>((field + 2) * sizeof(fb::voffset_t));
}

class FlatReader {
 public:
  explicit FlatReader(packs::View file)
      : file_(file),
        verifier_(file.data, file.size, kFlatDepth,
                  static_cast<fb::uoffset_t>(file.size / kLeastTable)) {}

  Status read_root(const FlatShape &shape, FlatTable *table) {
    const std::size_t at = verifier_.VerifyOffset(0);
    if (at != 0 && read(at, shape, table)) return {};
    return {Code::bad_input, unknown_field_ ? "a table has a field that is not known, as that of "
                                              "another version"
                                            : "its tables lead out of the file"};
  }

 private:
  // The table at `at`.
  bool read(std::size_t at, const FlatShape &shape, FlatTable *out) {
    const auto *table = reinterpret_cast<const fb::Table *>(file_.data + at);
    if (!table->VerifyTableStart(verifier_)) return false;
    const auto slots = fb::ReadScalar<fb::voffset_t>(table->GetVTable());
    // Writers leave the last fields out of the list where a table does not have them.
    unknown_field_ = slots > slot_of(shape.fields.size());
    if (unknown_field_) return false;
    out->fields.resize(shape.fields.size());
    for (std::size_t i = 0; i < shape.fields.size(); ++i) {
      const std::size_t offset = table->GetOptionalFieldOffset(slot_of(i));
      if (offset == 0) continue;
      out->fields[i].present = true;
      if (!read_value(at + offset, shape.fields[i], &out->fields[i])) return false;
    }
    return verifier_.EndTable();
  }

  // What the field at `at` has, or leads to.
  bool read_value(std::size_t at, const FlatField &field, FlatValue *out) {
    if (field.kind == FlatKind::word) {
      if (!verifier_.Verify<std::uint32_t>(at)) return false;
      out->bytes = text_of(file_).substr(at, sizeof(std::uint32_t));
      return true;
    }
    const std::size_t offset = verifier_.VerifyOffset(at);
    if (offset == 0) return false;
    at += offset;
    const std::size_t unit =
        field.kind == FlatKind::text || field.kind == FlatKind::bytes ? 1 : sizeof(std::uint32_t);
    if (!verifier_.VerifyVectorOrString(file_.data + at, unit)) return false;
    const std::size_t count = fb::ReadScalar<fb::uoffset_t>(file_.data + at);
    at += sizeof(fb::uoffset_t);
    if (field.kind == FlatKind::tables) return read_tables(at, count, *field.shape, &out->tables);
    out->bytes = text_of(file_).substr(at, count * unit);
    return field.kind != FlatKind::text || ends_with_zero(at + count);
  }

  bool read_tables(std::size_t at, std::size_t count, const FlatShape &shape,
                   std::vector<FlatTable> *tables) {
    for (; count > 0; --count, at += sizeof(fb::uoffset_t)) {
      const std::size_t offset = verifier_.VerifyOffset(at);
      if (offset == 0 || !read(at + offset, shape, &tables->emplace_back())) return false;
    }
    return true;
  }

  bool ends_with_zero(std::size_t at) const { return at < file_.size && file_.data[at] == 0; }

  packs::View file_;
  fb::Verifier verifier_;
  bool unknown_field_ = false;
};

class FlatWriter {
 public:
  Result<std::string> write_root(const FlatTable &table, const FlatShape &shape) {
    const fb::uoffset_t root = write(table, shape);
    if (too_large_) return Status(Code::bad_input, "it would be larger than any file of a cache");
    builder_.Finish(fb::Offset<fb::Table>(root));
    const auto *bytes = reinterpret_cast<const char *>(builder_.GetBufferPointer());
    return std::string(bytes, builder_.GetSize());
  }

 private:
  fb::uoffset_t write(const FlatTable &table, const FlatShape &shape) {
    std::vector<fb::uoffset_t> written(shape.fields.size());
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (!table.fields[i].present || shape.fields[i].kind == FlatKind::word) continue;
      written[i] = write_value(table.fields[i], shape.fields[i]);
      if (too_large_) return 0;
    }
    const fb::uoffset_t start = builder_.StartTable();
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (!table.fields[i].present) continue;
      if (shape.fields[i].kind != FlatKind::word) {
        builder_.AddOffset(slot_of(i), fb::Offset<void>(written[i]));
      } else {
        const auto *bytes = reinterpret_cast<const std::uint8_t *>(table.fields[i].bytes.data());
        builder_.AddElement(slot_of(i), fb::ReadScalar<std::uint32_t>(bytes));
      }
    }
    return builder_.EndTable(start);
  }

  fb::uoffset_t write_value(const FlatValue &value, const FlatField &field) {
    too_large_ = builder_.GetSize() + value.bytes.size() > kMaxCacheFile;
    if (too_large_) return 0;
    if (field.kind == FlatKind::tables) {
      std::vector<fb::Offset<fb::Table>> tables;
      for (const FlatTable &table : value.tables) {
        tables.emplace_back(write(table, *field.shape));
        if (too_large_) return 0;
      }
      return builder_.CreateVector(tables).o;
    }
    if (field.kind == FlatKind::text) {
      return builder_.CreateString(value.bytes.data(), value.bytes.size()).o;
    }
    return field.kind == FlatKind::words ? write_vector<std::uint32_t>(value.bytes)
                                         : write_vector<std::uint8_t>(value.bytes);
  }

  template <typename T>
  fb::uoffset_t write_vector(std::string_view bytes) {
    T *room = nullptr;
    const auto at = builder_.CreateUninitializedVector<T>(bytes.size() / sizeof(T), &room);
    if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());
    return at.o;
  }

  fb::FlatBufferBuilder builder_;
  bool too_large_ = false;
};

}  // namespace

Result<FlatTable> read_flat_tables(packs::View file, const FlatShape &shape) {
  if (file.size > kMaxCacheFile) return Status(Code::bad_input, "it is larger than 1 GiB");
  FlatTable root;
  if (Status s = FlatReader(file).read_root(shape, &root); !s.ok()) return s;
  return root;
}

Result<std::string> flat_tables(const FlatTable &root, const FlatShape &shape) {
  return FlatWriter().write_root(root, shape);
}

}  // namespace kiln::builder
