// SPDX-License-Identifier: Apache-2.0
// Compresses, decompresses and checks blobs, and swaps an answer's blobs and their names.
#include "builder/store/blobs.hpp"

#include <algorithm>

#include <zstd.h>

namespace kiln::builder {
namespace {

using nlohmann::json;

constexpr int kLevel = 3;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;  // limit for one blob

std::optional<packs::Bytes> decompress(packs::View stored, std::int64_t size) {
  if (size < 0 || size > kMaxBytes) return std::nullopt;
  packs::Bytes bytes(static_cast<std::size_t>(size));
  const std::size_t n = ZSTD_decompress(bytes.data(), bytes.size(), stored.data, stored.size);
  if (ZSTD_isError(n) != 0 || n != bytes.size()) return std::nullopt;
  return bytes;
}

constexpr const char *kName = "blob";  // {"blob": 32 bytes} stands for the blob of that name

void take_from(const std::string &path, json *value, std::vector<NamedBlob> *blobs) {
  if (value->is_binary()) {
    packs::Bytes bytes = std::move(value->get_binary());
    const packs::Digest name = packs::blake2b({bytes.data(), bytes.size()});
    *value = {{kName, json::binary(packs::Bytes(name.begin(), name.end()))}};
    blobs->push_back({path, name, std::move(bytes)});
    return;
  }
  if (!value->is_structured()) return;
  for (const auto &[key, member] : value->items()) {
    take_from(path.empty() ? key : path + "/" + key, &member, blobs);
  }
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

std::vector<NamedBlob> take_blobs(json *answer) {
  std::vector<NamedBlob> blobs;
  take_from("", answer, &blobs);
  return blobs;
}

bool put_blobs(const ReadBlob &read, json *answer) {
  if (!answer->is_structured()) return true;
  if (answer->is_object() && answer->size() == 1 && answer->contains(kName) &&
      (*answer)[kName].is_binary()) {
    const packs::Bytes &bytes = (*answer)[kName].get_binary();
    const auto name = digest_from({bytes.data(), bytes.size()});
    auto blob = name ? read(*name) : std::nullopt;
    if (!blob) return false;
    *answer = json::binary(*std::move(blob));
    return true;
  }
  return std::all_of(answer->begin(), answer->end(),
                     [&](json &member) { return put_blobs(read, &member); });
}

std::optional<packs::Digest> digest_from(packs::View bytes) {
  packs::Digest digest{};
  if (bytes.size != digest.size()) return std::nullopt;
  std::copy_n(bytes.data, bytes.size, digest.begin());
  return digest;
}

}  // namespace kiln::builder
