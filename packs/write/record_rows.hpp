// SPDX-License-Identifier: Apache-2.0
// Tunings, known-bad notes and parameters as rows of the root, and the texts that the rows share.
#pragma once

#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::packs {

inline fb::Hash to_hash(const Digest &name) {
  return fb::Hash(flatbuffers::span<const std::uint8_t, kDigestSize>(name.data(), name.size()));
}

// Returns a row's subject and place of measurement, by which rows are sorted; each row differs.
inline auto place_of(const Tuning &t) {
  return std::tie(t.program, t.variant, t.kernel, t.size_class, t.profile, t.family, t.model,
                  t.key_hash);
}

// The texts of all rows, each once and in order. Views of the contents, which must outlive them.
class RowTexts {
 public:
  RowTexts() = default;
  explicit RowTexts(const Contents &contents);

  std::uint64_t size() const;  // bytes of all texts
  std::uint32_t index(std::string_view text) const { return texts_.find(text)->second; }
  // Adds the texts, for a vector of them.
  std::vector<flatbuffers::Offset<flatbuffers::String>> add(
      flatbuffers::FlatBufferBuilder *root) const;

 private:
  std::map<std::string_view, std::uint32_t> texts_;
};

// Add rows, those of tunings and notes sorted. Without any they return 0, which leaves the field
// out.
flatbuffers::Offset<flatbuffers::Vector<const fb::Tuning *>> add_tunings(
    const std::vector<Tuning> &tunings, const RowTexts &texts,
    flatbuffers::FlatBufferBuilder *root);
flatbuffers::Offset<flatbuffers::Vector<const fb::Hash *>> add_tuned_variants(
    const Contents &contents, flatbuffers::FlatBufferBuilder *root);
flatbuffers::Offset<flatbuffers::Vector<const fb::KnownBad *>> add_known_bad(
    std::vector<KnownBad> notes, const RowTexts &texts, flatbuffers::FlatBufferBuilder *root);
flatbuffers::Offset<flatbuffers::Vector<const fb::Parameter *>> add_parameters(
    const std::vector<Parameter> &parameters, const RowTexts &texts,
    flatbuffers::FlatBufferBuilder *root);

}  // namespace kiln::packs
