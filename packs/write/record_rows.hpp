// SPDX-License-Identifier: Apache-2.0
// Tunings as rows of the root.
#pragma once

#include <tuple>
#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::packs {

// Returns a row's subject and place of measurement, by which rows are sorted; each row differs.
inline auto place_of(const Tuning &t) {
  return std::tie(t.program, t.variant, t.kernel, t.size_class, t.profile, t.family, t.model,
                  t.key_hash);
}

// Returns the size of all texts. Each counts once, as it is stored once.
std::uint64_t text_size(const std::vector<Tuning> &tunings);

// The root's fields for tunings.
struct TuningRows {
  flatbuffers::Offset<flatbuffers::Vector<const fb::Tuning *>> rows = 0;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> texts = 0;
};

// Adds the rows, sorted. Without any, returns 0, which leaves the root's fields out.
TuningRows add_rows(const std::vector<Tuning> &tunings, flatbuffers::FlatBufferBuilder *root);

}  // namespace kiln::packs
