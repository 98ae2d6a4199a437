// SPDX-License-Identifier: Apache-2.0
// What two packs hold differently, for `kiln diff`. A function of values: no blob is read but
// launches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A member that both have with other values, as `kiln inspect --json` calls it; blobs are their
// hashes.
struct DifferentField {
  std::string name;
  nlohmann::json a;
  nlohmann::json b;
};

enum class Side : std::uint8_t { only_a, only_b, both };

// A part of a pack that only one side has, or that differs.
struct PackDifference {
  Side side = Side::both;
  std::string kind;  // "pack", "program", "variant", "target", "binary", "intermediate",
                     // "cross-check", "tuning"
  std::string name;  // for people: "blur/wide for NVIDIA H200 (driver 580.65)"; a pack has none
  std::size_t parts = 0;                 // of what one side has: its variants or binaries
  std::vector<DifferentField> fields{};  // of what both have
};

// In a fixed order: by kind as above, then by the key by which a pack sorts the parts. What lies in
// a program or target that one side lacks is not listed by itself. How blobs are stored, and in
// which order, is no difference. Both are as read from packs, whose blobs are taken to have their
// hashes. Empty for packs that hold the same.
std::vector<PackDifference> compare_packs(const packs::Contents &a, const packs::Contents &b);

// A line each, which names the packs as given, and a last line with the sums.
std::string differences_text(const std::vector<PackDifference> &differences, const std::string &a,
                             const std::string &b);

// {"schema", "equal", "only_in_a", "only_in_b", "different"}.
nlohmann::json differences_json(const std::vector<PackDifference> &differences);

}  // namespace kiln::builder
