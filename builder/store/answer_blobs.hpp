// SPDX-License-Identifier: Apache-2.0
// A job's answer apart from the bytes in it, which other answers may have, too. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

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
