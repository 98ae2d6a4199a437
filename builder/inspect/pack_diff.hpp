// SPDX-License-Identifier: Apache-2.0
// Finds the differences between two packs, for `kiln pack diff`. A function of values: reads no
// blob except launches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// A member of both parts whose values differ, named as in `kiln pack inspect --json`; blobs are
// shown as their hashes.
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
                     // "tuning"
  std::string name;  // for people: "blur/wide for NVIDIA H200 (driver 580.65)"; empty for a pack
  std::size_t parts = 0;  // if only one side has it: its number of variants or binaries
  std::vector<DifferentField> fields{};  // if both have it: the members that differ
};

// Returns the differences in a fixed order: by kind as above, then by the key by which a pack sorts
// the parts. If one side lacks a program or target, the parts in it are not listed by themselves.
// The storage and order of blobs do not matter. Both contents must come from packs, whose blobs are
// assumed to match their hashes. Empty if the packs are equal.
std::vector<PackDifference> compare_packs(const packs::Contents &a, const packs::Contents &b);

// Returns a line for each difference, with the given names of the packs, and a last line with
// totals.
std::string differences_text(const std::vector<PackDifference> &differences, const std::string &a,
                             const std::string &b);

// Returns {"schema", "equal", "only_in_a", "only_in_b", "different"}.
nlohmann::json differences_json(const std::vector<PackDifference> &differences);

}  // namespace kiln::builder
