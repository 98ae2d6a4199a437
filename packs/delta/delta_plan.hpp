// SPDX-License-Identifier: Apache-2.0
// What a delta copies of OLD, and which bytes of OLD its other bytes are like.
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/packs/layout.hpp"

namespace kiln::packs {

struct DeltaStep {
  std::uint64_t old_offset = 0;  // kLiteralOffset: these bytes are not OLD's
  std::uint64_t new_offset = 0;
  std::uint64_t size = 0;
};

// A part of NEW that is not copied, and a place of OLD that has something like it.
struct DeltaHint {
  Place literal;  // in NEW
  Place like;     // in OLD
};

struct DeltaPlan {
  std::vector<DeltaStep> steps;  // cover NEW without gaps
  std::vector<DeltaHint> hints;  // rise by their place in NEW
};

// Reads the sections of both packs, and the stored bytes of blobs that both have.
Status plan_delta(const Pack &old_pack, const Pack &new_pack, DeltaPlan *out);

}  // namespace kiln::packs
