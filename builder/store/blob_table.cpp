// SPDX-License-Identifier: Apache-2.0
// Compresses, decompresses and checks blobs.
#include "builder/store/blob_table.hpp"

#include <zstd.h>

namespace kiln::builder {
namespace {

constexpr int kLevel = 3;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;  // that are allocated for a blob

std::optional<packs::Bytes> decompress(packs::View stored, std::int64_t size) {
  if (size < 0 || size > kMostBytes) return std::nullopt;
  packs::Bytes bytes(static_cast<std::size_t>(size));
  const std::size_t n = ZSTD_decompress(bytes.data(), bytes.size(), stored.data, stored.size);
  if (ZSTD_isError(n) != 0 || n != bytes.size()) return std::nullopt;
  return bytes;
}

}  // namespace

void put_blob(Database &database, const packs::Digest &name, packs::View bytes) {
  if (read_blob(database, name)) return;
  packs::Bytes stored(ZSTD_compressBound(bytes.size));
  const std::size_t n = ZSTD_compress(stored.data(), stored.size(), bytes.data, bytes.size, kLevel);
  if (ZSTD_isError(n) != 0) return;  // then the job that needs it is a miss
  Statement(database, "insert into blobs (name, size, bytes) values (?, ?, ?)")
      .with(view_of(name))
      .with(static_cast<std::int64_t>(bytes.size))
      .with(packs::View{stored.data(), n})
      .run();
}

std::optional<packs::Bytes> read_blob(Database &database, const packs::Digest &name) {
  std::optional<packs::Bytes> bytes;
  {
    Statement row(database, "select size, bytes from blobs where name = ?");
    if (!row.with(view_of(name)).step()) return std::nullopt;
    bytes = decompress(row.bytes(1), row.number(0));
  }
  if (bytes && packs::blake2b({bytes->data(), bytes->size()}) == name) return bytes;
  Statement(database, "delete from blobs where name = ?").with(view_of(name)).run();
  return std::nullopt;
}

}  // namespace kiln::builder
