// SPDX-License-Identifier: Apache-2.0
// Bytes in a store: the table that holds them by their BLAKE2b-256, each once, compressed by zstd;
// and a job's answer apart from the bytes in it, which other answers may have, too.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/store/database.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// In a transaction of the caller's; does nothing where the table has these bytes undamaged.
void put_blob(Database &database, const packs::Digest &name, packs::View bytes);

// Nothing if there is no such blob. One whose bytes do not have that name is damaged: it is
// removed, so that it can be put again, and nothing is returned.
std::optional<packs::Bytes> read_blob(Database &database, const packs::Digest &name);

inline packs::View view_of(const packs::Digest &digest) { return {digest.data(), digest.size()}; }

// Bytes of an answer, with their place in it: "binary/bytes", "also/0/binary/bytes".
struct NamedBlob {
  std::string path;
  packs::Digest name{};
  packs::Bytes bytes;
};

// Leaves in place of each binary value its name, and returns them in the order of the answer.
std::vector<NamedBlob> take_blobs(nlohmann::json *answer);

// The inverse: `read` gives the bytes of a name, or nothing. Whether it gave all.
using ReadBlob = std::function<std::optional<packs::Bytes>(const packs::Digest &name)>;
bool put_blobs(const ReadBlob &read, nlohmann::json *answer);

// The digest that these 32 bytes are; nothing of another size.
std::optional<packs::Digest> digest_from(packs::View bytes);

}  // namespace kiln::builder
