// SPDX-License-Identifier: Apache-2.0
// The bytes that a delta copies from OLD, and the bytes of OLD that its other bytes resemble.
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/packs/layout.hpp"

namespace kiln::packs {

struct DeltaStep {
  std::uint64_t old_offset = 0;  // kLiteralOffset: not copied from OLD
  std::uint64_t new_offset = 0;
  std::uint64_t size = 0;
};

// A part of NEW that is not copied, and a similar place in OLD.
struct DeltaHint {
  ByteRange literal;  // in NEW
  ByteRange like;     // in OLD
};

struct DeltaPlan {
  std::vector<DeltaStep> steps;  // cover NEW without gaps
  std::vector<DeltaHint> hints;  // in the order of NEW
};

// Reads the sections of both packs, and the stored bytes of blobs that both have.
Status plan_delta(const Pack &old_pack, const Pack &new_pack, DeltaPlan *out);

}  // namespace kiln::packs
