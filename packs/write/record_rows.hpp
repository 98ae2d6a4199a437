// SPDX-License-Identifier: Apache-2.0
// Cross-checks and tunings as the writer writes them.
#pragma once

#include <tuple>
#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::packs {

// What a row is for and where it was measured: rows are sorted by it, and each has its own.
inline auto place_of(const Tuning &t) {
  return std::tie(t.program, t.variant, t.kernel, t.size_class, t.profile, t.family, t.model,
                  t.key_hash);
}

inline auto place_of(const CrossCheck &c) { return std::tie(c.device, c.target); }

// The bytes of all texts. Each counts once, as it is stored once.
std::uint64_t text_size(const std::vector<Tuning> &tunings);

using CrossCheckRows = flatbuffers::Offset<flatbuffers::Vector<const fb::CrossCheck *>>;

// The root's fields for tunings.
struct TuningRows {
  flatbuffers::Offset<flatbuffers::Vector<const fb::Tuning *>> rows = 0;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> texts = 0;
};

// Sorted. Without any the result is 0, which leaves the root's fields out.
CrossCheckRows add_rows(const std::vector<CrossCheck> &checks,
                        flatbuffers::FlatBufferBuilder *root);
TuningRows add_rows(const std::vector<Tuning> &tunings, flatbuffers::FlatBufferBuilder *root);

}  // namespace kiln::packs
