// SPDX-License-Identifier: Apache-2.0
// Walks an answer and exchanges bytes and their names.
#include "builder/store/answer_blobs.hpp"

#include <algorithm>

namespace kiln::builder {
namespace {

using nlohmann::json;

constexpr const char *kName = "blob";  // {"blob": 32 bytes} stands for the bytes of that name

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
