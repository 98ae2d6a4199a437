// SPDX-License-Identifier: Apache-2.0
// Blobs in a store: a table holds each blob once, under its BLAKE2b-256, compressed by zstd. A
// job's answer is kept apart from its blobs, which other answers may share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/store/database.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Stores the bytes, in a transaction of the caller. Does nothing if the table has them undamaged.
void put_blob(Database &database, const packs::Digest &name, packs::View bytes);

// Returns the blob; nothing if it does not exist. A blob whose bytes do not match its name is
// damaged: it is removed, so that it can be stored again, and nothing is returned.
std::optional<packs::Bytes> read_blob(Database &database, const packs::Digest &name);

inline packs::View view_of(const packs::Digest &digest) { return {digest.data(), digest.size()}; }

// A blob of an answer, with its place there: "binary/bytes", "also/0/binary/bytes".
struct NamedBlob {
  std::string path;
  packs::Digest name{};
  packs::Bytes bytes;
};

// Replaces each binary value by its name, and returns the values in the order of the answer.
std::vector<NamedBlob> take_blobs(nlohmann::json *answer);

// Does the inverse: `read` returns the bytes for a name, or nothing. Returns whether all were
// found.
using ReadBlob = std::function<std::optional<packs::Bytes>(const packs::Digest &name)>;
bool put_blobs(const ReadBlob &read, nlohmann::json *answer);

// Converts 32 bytes to a digest; returns nothing for another size.
std::optional<packs::Digest> digest_from(packs::View bytes);

}  // namespace kiln::builder
